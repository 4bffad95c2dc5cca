package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// mappings checks the event source mapping that sends the stream of FeatureTypes to a function.
func (d *doctor) mappings(ctx context.Context, found stackResources) (string, error) {
	ids := found.ids("AWS::Lambda::EventSourceMapping")
	if len(ids) == 0 {
		return "", problem("the stack has no event source mapping for the stream of FeatureTypes", deployAgain)
	}
	table, err := describeTable(ctx, d.Installation.Client, d.Installation.Tables.FeatureTypes)
	if err != nil {
		return "", err
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
		case stream != aws.ToString(table.LatestStreamArn):
			return "", problem(fmt.Sprintf("the event source mapping %s reads %s, which is not the table's current stream", id, stream),
				"the stream was disabled and enabled, or the table was restored: delete the mapping and deploy the stack again")
		case strings.HasPrefix(result, "PROBLEM"):
			return "", problem(fmt.Sprintf("the event source mapping %s reports: %s", id, result), "read the function's log group")
		}
	}
	return "enabled", nil
}

// schedules checks the schedule that invokes the sweep every minute.
func (d *doctor) schedules(ctx context.Context, found stackResources) (string, error) {
	names := found.ids("AWS::Scheduler::Schedule")
	if len(names) == 0 {
		return "", problem("the stack has no schedule for the sweep", deployAgain)
	}
	client := scheduler.NewFromConfig(d.Installation.Stack.Config)
	for _, name := range names {
		out, err := client.ListSchedules(ctx, &scheduler.ListSchedulesInput{NamePrefix: &name})
		if err != nil {
			return "", fmt.Errorf("get the schedule: %w", err)
		}
		i := slices.IndexFunc(out.Schedules, func(s schedulertypes.ScheduleSummary) bool { return aws.ToString(s.Name) == name })
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
func (d *doctor) subscription(ctx context.Context, found stackResources) (string, error) {
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
	return "", problem(fmt.Sprintf("%s has no subscription of %s: traffic is not counted", group, RecordTraffic), deployAgain)
}
