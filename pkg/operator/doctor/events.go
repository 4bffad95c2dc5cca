package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/parameter"
)

// mappings checks the event source mappings: of the streams of FeatureTypes and Events, and of the queue of the
// webhook.
func (d *doctor) mappings(ctx context.Context, found installation.Resources) (string, error) {
	ids := found.IDs("AWS::Lambda::EventSourceMapping")
	if len(ids) == 0 {
		return "", problem("the stack has no event source mapping for the stream of FeatureTypes", deployAgain)
	}
	var streams []string
	for _, name := range []string{d.Installation.Tables[featuretype.Table], d.Installation.Tables[eventlog.Table]} {
		table, err := describeTable(ctx, d.Installation.Client, name)
		if err != nil {
			return "", err
		}
		streams = append(streams, aws.ToString(table.LatestStreamArn))
	}
	client := lambda.NewFromConfig(d.Installation.Stack.Config)
	for _, id := range ids {
		m, err := client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &id})
		if _, missing := errors.AsType[*lambdatypes.ResourceNotFoundException](err); missing {
			return "", problem("the event source mapping "+id+" does not exist", deployAgain)
		}
		if err != nil {
			return "", fmt.Errorf("get the event source mapping: %w", err)
		}
		state, stream, result := aws.ToString(m.State), aws.ToString(m.EventSourceArn), aws.ToString(m.LastProcessingResult)
		switch {
		case state != "Enabled":
			return "", problem(fmt.Sprintf("the event source mapping %s is %s", id, state),
				"enable it: aws lambda update-event-source-mapping --enabled --uuid "+id)
		case !strings.Contains(stream, ":sqs:") && !slices.Contains(streams, stream):
			return "", problem(fmt.Sprintf("the event source mapping %s reads %s, which is not a table's current stream", id,
				stream),
				"the stream was disabled and enabled, or the table was restored: delete the mapping and deploy the stack again")
		case strings.HasPrefix(result, "PROBLEM"):
			return "", problem(fmt.Sprintf("the event source mapping %s reports: %s", id, result),
				"read the function's log group")
		}
	}
	return "enabled", nil
}

// bus checks the bus and the rule of the webhook.
func (d *doctor) bus(ctx context.Context, found installation.Resources) (string, error) {
	if d.Installation.EventSource == "" {
		return "the parameter SendEventsToBus is false", errSkip
	}
	client := eventbridge.NewFromConfig(d.Installation.Stack.Config)
	bus := found["AWS::Events::EventBus"]["EventBus"]
	if _, err := client.DescribeEventBus(ctx, &eventbridge.DescribeEventBusInput{Name: &bus}); err != nil {
		return "", explainMissing("the event bus "+bus, err)
	}
	id := found["AWS::Events::Rule"]["WebhookRule"]
	if id == "" {
		return bus + ", without a webhook", nil
	}
	name := id[strings.LastIndex(id, "|")+1:] // the id is bus|name
	rule, err := client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{EventBusName: &bus, Name: &name})
	if err != nil {
		return "", explainMissing("the rule "+name, err)
	}
	if rule.State != bustypes.RuleStateEnabled {
		return "", problem(fmt.Sprintf("the rule %s is %s: the webhook receives no events", name, rule.State),
			"enable it: aws events enable-rule --event-bus-name "+bus+" --name "+name)
	}
	return bus + ", the rule of the webhook is enabled", nil
}

// webhookSecret checks that the URL and the secrets of the webhook can be read and used.
func (d *doctor) webhookSecret(ctx context.Context, _ installation.Resources) (string, error) {
	name := d.Installation.Stack.Parameters["WebhookSecretName"]
	if name == "" {
		return "the stack has no webhook", errSkip
	}
	text, err := parameter.NewStore(d.Installation.Stack.Config, name).Get(ctx)
	if err != nil {
		return "", err
	}
	address, secrets, err := webhook.ParseParameter(text)
	if err == nil {
		_, err = webhook.NewClient(address, false, d.Now)
	}
	if err != nil {
		return "", problem(fmt.Sprintf("%s: %v", name, err), "store a valid secret, see docs/events.md")
	}
	return fmt.Sprintf("%s can be read, secrets: %d", name, len(secrets)), nil
}

// explainMissing returns a problem if EventBridge does not have a resource.
func explainMissing(what string, err error) error {
	if _, missing := errors.AsType[*bustypes.ResourceNotFoundException](err); missing {
		return problem(what+" does not exist", deployAgain)
	}
	return fmt.Errorf("describe %s: %w", what, err)
}

// schedules checks the schedules that invoke functions.
func (d *doctor) schedules(ctx context.Context, found installation.Resources) (string, error) {
	names := found.IDs("AWS::Scheduler::Schedule")
	if len(names) == 0 {
		return "", problem("the stack has no schedule for the sweep", deployAgain)
	}
	client := scheduler.NewFromConfig(d.Installation.Stack.Config)
	for _, name := range names {
		out, err := client.ListSchedules(ctx, &scheduler.ListSchedulesInput{NamePrefix: &name})
		if err != nil {
			return "", fmt.Errorf("get the schedule: %w", err)
		}
		i := slices.IndexFunc(out.Schedules,
			func(s schedulertypes.ScheduleSummary) bool { return aws.ToString(s.Name) == name })
		if i < 0 {
			return "", problem("the schedule "+name+" does not exist", deployAgain)
		}
		if state := out.Schedules[i].State; state != schedulertypes.ScheduleStateEnabled {
			return "", problem(fmt.Sprintf("the schedule %s is %s", name, state), "enable it in EventBridge Scheduler")
		}
	}
	return strings.Join(names, ", ") + " is enabled", nil
}

// Logical ids of the access log and of the function that reads it.
const (
	AccessLogs    = "AccessLogs"
	RecordTraffic = "RecordTrafficFunction"
)

// subscription checks the subscription that sends the access log to the function that counts traffic.
func (d *doctor) subscription(ctx context.Context, found installation.Resources) (string, error) {
	group := found["AWS::Logs::LogGroup"][AccessLogs]
	if group == "" {
		return "", problem("the stack has no log group "+AccessLogs, deployAgain)
	}
	out, err := cloudwatchlogs.NewFromConfig(d.Installation.Stack.Config).DescribeSubscriptionFilters(ctx,
		&cloudwatchlogs.DescribeSubscriptionFiltersInput{LogGroupName: &group})
	if err != nil {
		return "", fmt.Errorf("describe the subscriptions of %s: %w", group, err)
	}
	function := found["AWS::Lambda::Function"][RecordTraffic]
	for _, f := range out.SubscriptionFilters {
		// The destination may be a version or an alias of the function.
		if strings.Contains(aws.ToString(f.DestinationArn)+":", ":function:"+function+":") {
			return group + " is sent to " + function, nil
		}
	}
	return "", problem(fmt.Sprintf("%s has no subscription of %s: traffic is not counted", group, RecordTraffic),
		deployAgain)
}
