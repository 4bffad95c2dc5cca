package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// The functions that are fed, and the access log, by their logical ids.
const (
	reevaluateStaleness = "ReevaluateStalenessFunction"
	sweepStaleness      = "SweepStalenessFunction"
	recordTraffic       = "RecordTrafficFunction"
	accessLogs          = "AccessLogs"

	deployAgain = "deploy the stack again; if it finds nothing to change, delete what is left of it by hand first"
)

// mapping looks at what feeds the stream of lifetimes to its function.
func (d *doctor) mapping(ctx context.Context, found resources) (string, error) {
	client := lambda.NewFromConfig(d.Installation.Stack.Config)
	for _, id := range found["AWS::Lambda::EventSourceMapping"] {
		m, err := client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &id})
		if _, gone := errors.AsType[*lambdatypes.ResourceNotFoundException](err); gone {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("look at the event source mapping: %w", err)
		}
		if !found.isFunction(aws.ToString(m.FunctionArn), reevaluateStaleness) {
			continue
		}
		return d.mappingOf(ctx, id, m)
	}
	return "", problem("nothing feeds the stream of FeatureTypes to "+reevaluateStaleness, deployAgain)
}

func (d *doctor) mappingOf(ctx context.Context, id string, m *lambda.GetEventSourceMappingOutput) (string, error) {
	state, result := aws.ToString(m.State), aws.ToString(m.LastProcessingResult)
	if state != "Enabled" {
		return "", problem(fmt.Sprintf("the mapping %s of the stream is %s", id, state),
			"enable it: aws lambda update-event-source-mapping --enabled --uuid "+id)
	}
	table, err := describeTable(ctx, d.Installation.Client, d.Installation.Tables.FeatureTypes)
	if err != nil {
		return "", err
	}
	if stream := aws.ToString(m.EventSourceArn); table != nil && stream != aws.ToString(table.LatestStreamArn) {
		return "", problem(fmt.Sprintf("the mapping %s reads %s, which is not the table's stream of today", id, stream),
			"the stream was switched off and on, or the table restored: delete the mapping and deploy the stack again")
	}
	if strings.HasPrefix(result, "PROBLEM") {
		return "", problem(fmt.Sprintf("the mapping %s says: %s", id, result), "look at the log group of "+reevaluateStaleness)
	}
	if result == "" {
		return "enabled", nil
	}
	return "enabled; last result: " + result, nil
}

// schedule looks at what calls the sweep each minute.
func (d *doctor) schedule(ctx context.Context, found resources) (string, error) {
	client := scheduler.NewFromConfig(d.Installation.Stack.Config)
	for _, name := range found["AWS::Scheduler::Schedule"] {
		pages := scheduler.NewListSchedulesPaginator(client, &scheduler.ListSchedulesInput{NamePrefix: &name})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return "", fmt.Errorf("look for the schedule: %w", err)
			}
			for _, s := range page.Schedules {
				if s.Target == nil || !found.isFunction(aws.ToString(s.Target.Arn), sweepStaleness) {
					continue
				}
				if s.State != schedulertypes.ScheduleStateEnabled {
					return "", problem(fmt.Sprintf("the schedule %s is %s", aws.ToString(s.Name), s.State), "enable it in EventBridge Scheduler")
				}
				return aws.ToString(s.Name) + " is enabled", nil
			}
		}
	}
	return "", problem("no schedule calls "+sweepStaleness, deployAgain)
}

// subscription looks at what feeds the access log to the recorder of traffic.
func (d *doctor) subscription(ctx context.Context, found resources) (string, error) {
	group := found["AWS::Logs::LogGroup"][accessLogs]
	if group == "" {
		return "", problem("the stack has no log group "+accessLogs, deployAgain)
	}
	out, err := cloudwatchlogs.NewFromConfig(d.Installation.Stack.Config).DescribeSubscriptionFilters(ctx,
		&cloudwatchlogs.DescribeSubscriptionFiltersInput{LogGroupName: &group})
	if err != nil {
		return "", fmt.Errorf("look at the subscriptions of %s: %w", group, err)
	}
	for _, f := range out.SubscriptionFilters {
		if found.isFunction(aws.ToString(f.DestinationArn), recordTraffic) {
			return fmt.Sprintf("%s feeds %s", group, recordTraffic), nil
		}
	}
	return "", problem(fmt.Sprintf("%s has no subscription that feeds %s: no traffic is counted", group, recordTraffic), deployAgain)
}

// sorted gives the physical ids of a type in the order of their logical ids.
func (r resources) sorted(kind string) []string {
	var all []string
	for _, logical := range slices.Sorted(maps.Keys(r[kind])) {
		all = append(all, r[kind][logical])
	}
	return all
}
