package installation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"toggleadmin/pkg/event"
)

// SenderLogs are the logical ids of the log groups of the functions that send events.
var SenderLogs = []string{"AnnounceExpiringTokensLogs", "ReevaluateStalenessLogs", "SweepStalenessLogs"}

const (
	// pollInterval is the time between two searches of the logs. CloudWatch Logs allows five searches per second.
	pollInterval = 2 * time.Second
	// logDelay is the time within which a line appears in the log.
	logDelay = time.Minute
)

// FollowEvents calls emit for each event that the stack has sent since a time, and for each new one until ctx ends, which is not an error. It
// searches the logs of the functions that send events.
func (s *Stack) FollowEvents(ctx context.Context, since time.Time, now func() time.Time, emit func(json.RawMessage) error) error {
	resources, err := s.Resources(ctx)
	if err != nil {
		return err
	}
	client := cloudwatchlogs.NewFromConfig(s.Config)
	printed := map[string]bool{} // ids of lines; searches overlap
	for start := since; ; start = later(since, now().Add(-logDelay)) {
		lines, err := sentLines(ctx, client, resources, start)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, line := range lines {
			id := aws.ToString(line.EventId)
			var logged struct{ Event json.RawMessage }
			if printed[id] || json.Unmarshal([]byte(aws.ToString(line.Message)), &logged) != nil {
				continue
			}
			printed[id] = true
			if err := emit(logged.Event); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollInterval):
		}
	}
}

// sentLines returns the lines about sent events since a time, oldest first.
func sentLines(ctx context.Context, client *cloudwatchlogs.Client, resources Resources, since time.Time) ([]types.FilteredLogEvent, error) {
	var all []types.FilteredLogEvent
	for _, id := range SenderLogs {
		pages := cloudwatchlogs.NewFilterLogEventsPaginator(client, &cloudwatchlogs.FilterLogEventsInput{
			LogGroupName:  aws.String(resources["AWS::Logs::LogGroup"][id]),
			FilterPattern: aws.String(fmt.Sprintf("{ $.message = %q }", event.LogMessage)), StartTime: aws.Int64(since.UnixMilli()),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("read the log group %s: %w", id, err)
			}
			all = append(all, page.Events...)
		}
	}
	slices.SortStableFunc(all, func(a, b types.FilteredLogEvent) int {
		return cmp.Compare(aws.ToInt64(a.Timestamp), aws.ToInt64(b.Timestamp))
	})
	return all, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ReplayEvents asks EventBridge to send the events of the archive that it received in a time again: to the rule of the webhook, or without a
// webhook to all rules of the bus. It returns when EventBridge has started.
func (s *Stack) ReplayEvents(ctx context.Context, name string, from, to time.Time) error {
	resources, err := s.Resources(ctx)
	if err != nil {
		return err
	}
	client := eventbridge.NewFromConfig(s.Config)
	archive, err := client.DescribeArchive(ctx, &eventbridge.DescribeArchiveInput{
		ArchiveName: aws.String(resources["AWS::Events::Archive"]["EventArchive"]),
	})
	if err != nil {
		return fmt.Errorf("describe the archive: %w", err)
	}
	destination := &bustypes.ReplayDestination{Arn: archive.EventSourceArn}
	if rule := resources["AWS::Events::Rule"]["WebhookRule"]; rule != "" { // its id is bus|name
		found, err := client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{
			EventBusName: archive.EventSourceArn, Name: aws.String(rule[strings.LastIndex(rule, "|")+1:]),
		})
		if err != nil {
			return fmt.Errorf("describe the rule of the webhook: %w", err)
		}
		destination.FilterArns = []string{aws.ToString(found.Arn)}
	}
	_, err = client.StartReplay(ctx, &eventbridge.StartReplayInput{
		ReplayName: &name, EventSourceArn: archive.ArchiveArn, EventStartTime: &from, EventEndTime: &to, Destination: destination,
	})
	if err != nil {
		return fmt.Errorf("start the replay: %w", err)
	}
	return nil
}
