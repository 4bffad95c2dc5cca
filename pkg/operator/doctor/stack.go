package doctor

import (
	"context"
	"strings"

	"toggleadmin/pkg/operator/installation"
)

const deployAgain = "deploy the stack again; if the deployment finds no changes, first delete what is left of the resource"

// stack checks the state of the last deployment.
func (d *doctor) stack(context.Context) (string, error) {
	status := d.Installation.Stack.Status
	detail := d.Installation.Name + " is " + status
	switch {
	case status == "CREATE_COMPLETE" || status == "UPDATE_COMPLETE" || status == "IMPORT_COMPLETE":
		return detail, nil
	case strings.HasSuffix(status, "_IN_PROGRESS"):
		return "", problem(detail, "wait until the deployment has ended and run doctor again")
	case status == "UPDATE_ROLLBACK_COMPLETE" || status == "IMPORT_ROLLBACK_COMPLETE":
		detail += ": the service works, but the last deployment was rolled back"
	}
	return "", problem(detail,
		"find the reason in the stack's events (aws cloudformation describe-stack-events), resolve it and deploy again")
}

// resources checks the stack's resources other than tables. Without a stack all of these checks are skipped.
func (d *doctor) resources(ctx context.Context) {
	checks := []struct {
		name string
		run  func(context.Context, installation.Resources) (string, error)
	}{
		{"event source mapping", d.mappings},
		{"schedule", d.schedules},
		{"log subscription", d.subscription},
		{"event bus", d.bus},
		{"webhook secret", d.webhookSecret},
		{"origin secret", d.originSecret},
		{"alarms", d.alarms},
		{"alarm actions", d.alarmActions},
		{"alarm subscriptions", d.alarmSubscriptions},
		{"account logging role", d.loggingRole},
		{"Lambda concurrency", d.concurrency},
		{"list of service accounts", d.listSize},
		{"failure queues", d.queues},
	}
	if d.Installation.IsLocal() {
		d.run(ctx, "AWS resources", func(context.Context) (string, error) {
			var names []string
			for _, check := range checks {
				names = append(names, check.name)
			}
			return strings.Join(names, ", ") + " exist on AWS only; make run prints failures to its console", errSkip
		})
		return
	}
	listing, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := d.Installation.Stack.Resources(listing)
	for _, check := range checks {
		d.run(ctx, check.name, func(ctx context.Context) (string, error) {
			if err != nil {
				return "", err
			}
			return check.run(ctx, found)
		})
	}
}
