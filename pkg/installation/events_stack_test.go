package installation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/installation"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newStack returns a stack with these resources, as "type logical-id physical-id". respond answers the calls of other services than
// CloudFormation, in the forms of their API references.
func newStack(tb testing.TB, resources string, respond func(call, body string) string) installation.Stack {
	tb.Helper()
	return installation.Stack{Name: "my-stack", Config: aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			text := ""
			if target := r.Header.Get("X-Amz-Target"); target != "" {
				text = respond(target[strings.LastIndex(target, ".")+1:], string(body))
			} else {
				for line := range strings.Lines(resources) {
					f := strings.Fields(line)
					text += fmt.Sprintf("<member><ResourceType>%s</ResourceType><LogicalResourceId>%s</LogicalResourceId>"+
						"<PhysicalResourceId>%s</PhysicalResourceId></member>", f[0], f[1], f[2])
				}
				text = "<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>" + text +
					"</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>"
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}}, nil
		})},
	}}
}

const logGroups = `AWS::Logs::LogGroup SweepStalenessLogs sweep
AWS::Logs::LogGroup ReevaluateStalenessLogs stream
AWS::Logs::LogGroup AnnounceExpiringTokensLogs tokens`

// A line that appears late is printed, and no line is printed twice.
func TestFollowEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		line := func(id string, at time.Duration) string {
			return fmt.Sprintf(`{"eventId":%q,"timestamp":%d,"message":"{\"message\":\"event sent\",\"event\":{\"id\":\"%s\"}}"}`,
				id, begin.Add(at).UnixMilli(), id)
		}
		stack := newStack(t, logGroups, func(call, body string) string {
			var in struct {
				LogGroupName, FilterPattern, NextToken string
				StartTime                              int64
			}
			if err := json.Unmarshal([]byte(body), &in); err != nil || call != "FilterLogEvents" || in.FilterPattern != `{ $.message = "event sent" }` {
				t.Errorf("%s %s", call, body)
			}
			elapsed, want := time.Since(begin), begin.Add(-time.Hour)
			if elapsed > 0 {
				want = time.Now().Add(-time.Minute)
			}
			if in.StartTime != want.UnixMilli() {
				t.Errorf("after %s: %s", elapsed, body)
			}
			var lines []string
			switch {
			case in.LogGroupName == "tokens" && in.NextToken == "":
				return `{"events":[],"nextToken":"t"}`
			case in.LogGroupName == "tokens":
				lines = []string{line("old", -time.Minute)}
			case in.LogGroupName == "sweep":
				lines = []string{line("older", -2*time.Minute)}
				if elapsed > 3*time.Second {
					lines = append(lines, line("late", -time.Second))
				}
			}
			return `{"events":[` + strings.Join(lines, ",") + `]}`
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got := ""
		err := stack.FollowEvents(ctx, begin.Add(-time.Hour), time.Now, func(event json.RawMessage) error {
			got += string(event)
			return nil
		})
		if want := `{"id":"older"}{"id":"old"}{"id":"late"}`; got != want || err != nil {
			t.Errorf("%s, error %v, want %s", got, err, want)
		}
	})
}

func TestReplayEvents(t *testing.T) {
	t.Parallel()
	const bus = "arn:aws:events:eu-west-1:123456789012:event-bus/my-stack"
	for resources, filter := range map[string]string{
		"AWS::Events::Archive EventArchive a": "",
		"AWS::Events::Archive EventArchive a\nAWS::Events::Rule WebhookRule my-stack|my-stack-WebhookRule-1": `,"FilterArns":["arn:rule"]`,
	} {
		var calls []string
		stack := newStack(t, resources, func(call, body string) string {
			calls = append(calls, call+" "+body)
			return map[string]string{
				"DescribeArchive": `{"ArchiveArn":"arn:archive","EventSourceArn":"` + bus + `"}`, "DescribeRule": `{"Arn":"arn:rule"}`, "StartReplay": `{}`,
			}[call]
		})
		at := time.Unix(1795153140, 0)
		if err := stack.ReplayEvents(t.Context(), "r", at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		want := []string{`DescribeArchive {"ArchiveName":"a"}`}
		if filter != "" {
			want = append(want, `DescribeRule {"EventBusName":"`+bus+`","Name":"my-stack-WebhookRule-1"}`)
		}
		want = append(want, `StartReplay {"Destination":{"Arn":"`+bus+`"`+filter+`},"EventEndTime":1795156740,"EventSourceArn":"arn:archive",`+
			`"EventStartTime":1795153140,"ReplayName":"r"}`)
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Error(diff)
		}
	}
}
