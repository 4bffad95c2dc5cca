package deploy_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
)

func (s *stack) logs() *cloudwatchlogs.Client { return cloudwatchlogs.NewFromConfig(s.config()) }

// logGroup gives the name of a function's log group.
func (s *stack) logGroup(function string) string {
	return s.physicalID(text(s.template.get("Resources", function, "Properties", "LoggingConfig", "LogGroup")))
}

// logLines gives what a function has logged since a moment.
func (s *stack) logLines(ctx context.Context, function string, since time.Time) (lines []string, err error) {
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(s.logs(), &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: aws.String(s.logGroup(function)), StartTime: aws.Int64(since.UnixMilli()),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the log of %s: %w", function, err)
		}
		for _, event := range page.Events {
			lines = append(lines, aws.ToString(event.Message))
		}
	}
	return lines, nil
}

// faults names the functions that have logged an error since a moment, each with the line: an action that a policy does not allow, a table
// that is not there, a panic. That a deadline was exceeded says something about this machine alone.
func (s *stack) faults(t *testing.T, since time.Time) (found []string) {
	t.Helper()
	fault, slow := regexp.MustCompile(`level\W+(ERROR|WARN)|AccessDenied|panic`), regexp.MustCompile(`deadline exceeded`)
	for _, function := range s.template.ofType("AWS::Serverless::Function") {
		lines, err := s.logLines(t.Context(), function, since)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if fault.MatchString(line) && !slow.MatchString(line) {
				found = append(found, function+" logged: "+line)
			}
		}
	}
	return found
}

// writeLog puts lines into a log group, in a stream of its own.
func (s *stack) writeLog(ctx context.Context, group, stream string, lines []string) error {
	client := s.logs()
	if _, err := client.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &group, LogStreamName: &stream}); err != nil {
		return fmt.Errorf("make the log stream %s: %w", stream, err)
	}
	events := make([]types.InputLogEvent, len(lines))
	for i := range lines {
		events[i] = types.InputLogEvent{Message: &lines[i], Timestamp: aws.Int64(time.Now().UnixMilli())}
	}
	_, err := client.PutLogEvents(ctx, &cloudwatchlogs.PutLogEventsInput{LogGroupName: &group, LogStreamName: &stream, LogEvents: events})
	if err != nil {
		return fmt.Errorf("write to the log stream %s: %w", stream, err)
	}
	return nil
}
