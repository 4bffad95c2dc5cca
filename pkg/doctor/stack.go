package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// stack looks at the state of the last deployment.
func (d *doctor) stack(context.Context) (string, error) {
	status := d.Installation.Stack.Status
	detail := d.Installation.Name + " is " + status
	switch status {
	case "CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE":
		return detail, nil
	case "UPDATE_ROLLBACK_COMPLETE", "IMPORT_ROLLBACK_COMPLETE":
		return "", problem(detail+": it serves, but the last deployment was taken back",
			"find the reason in the stack's events (aws cloudformation describe-stack-events) and deploy again")
	}
	if strings.HasSuffix(status, "_IN_PROGRESS") {
		return "", problem(detail, "wait until the deployment has ended and run doctor again")
	}
	return "", problem(detail, "find the reason in the stack's events (aws cloudformation describe-stack-events), mend it and deploy again")
}

// resources are the stack's resources by their types: logical → physical id.
type resources map[string]map[string]string

func (d *doctor) resources(ctx context.Context) (resources, error) {
	found := resources{}
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(d.Installation.Stack.Config),
		&cloudformation.ListStackResourcesInput{StackName: &d.Installation.Stack.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the resources of the stack: %w", err)
		}
		for _, r := range page.StackResourceSummaries {
			kind := aws.ToString(r.ResourceType)
			if found[kind] == nil {
				found[kind] = map[string]string{}
			}
			found[kind][aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
		}
	}
	return found, nil
}

// isFunction says whether an ARN is of the function with that logical id, of a version or an alias of it.
func (r resources) isFunction(arn, logical string) bool {
	name := r["AWS::Lambda::Function"][logical]
	return name != "" && strings.Contains(arn+":", ":function:"+name+":")
}

// surroundings checks what feeds the tables and what watches over it.
func (d *doctor) surroundings(ctx context.Context) {
	list, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	found, failure := d.resources(list)
	for _, check := range []struct {
		name string
		run  func(context.Context, resources) (string, error)
	}{
		{"event source mapping", d.mapping}, {"schedule", d.schedule}, {"log subscription", d.subscription}, {"alarms", d.alarms},
		{"account logging role", d.account}, {"failure queues", d.queues},
	} {
		d.run(ctx, check.name, func(ctx context.Context) (string, error) {
			if failure != nil {
				return "", failure
			}
			return check.run(ctx, found)
		})
	}
}
