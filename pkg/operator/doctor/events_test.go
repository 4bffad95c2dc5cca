package doctor_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/api/webhook"
	"toggleadmin/pkg/operator/doctor"
)

// withWebhook are the resources of a stack with a webhook: type, logical id, physical id.
var withWebhook = [][3]string{
	{"AWS::Events::EventBus", "EventBus", "my-bus"},
	{"AWS::Events::Rule", "WebhookRule", "my-bus|my-rule"},
	{"AWS::Lambda::EventSourceMapping", "DeliverWebhookFunctionMessages", "1"},
	{"AWS::SQS::Queue", "WebhookQueue", "https://sqs/waiting"},
	{"AWS::SQS::Queue", "WebhookFailures", "https://sqs/failed"},
}

// respond responds as AWS to a stack with these resources, in the forms of the API references. answers are the
// responses of the other services; calls without one get a 400.
func respond(resources [][3]string, answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		target := r.Header.Get("X-Amz-Target")
		call := target[strings.LastIndex(target, ".")+1:]
		switch {
		case strings.Contains(string(body), "Action=ListStackResources"):
			members := ""
			for _, m := range resources {
				members += fmt.Sprintf("<member><ResourceType>%s</ResourceType><LogicalResourceId>%s</LogicalResourceId>"+
					"<PhysicalResourceId>%s</PhysicalResourceId></member>", m[0], m[1], m[2])
			}
			fmt.Fprintf(w, "<R><ListStackResourcesResult><StackResourceSummaries>%s</StackResourceSummaries></ListStackResourcesResult></R>", members)
		case strings.HasPrefix(r.URL.Path, "/2015-03-31/event-source-mappings/"):
			fmt.Fprint(w, `{"State":"Enabled","EventSourceArn":"arn:aws:sqs:eu-west-1:123456789012:waiting"}`)
		case call == "GetQueueAttributes" && strings.Contains(string(body), "waiting"):
			fmt.Fprint(w, `{"Attributes":{"ApproximateNumberOfMessages":"7","ApproximateNumberOfMessagesNotVisible":"1"}}`)
		case answers[call] != "":
			fmt.Fprint(w, answers[call])
		default:
			code := "ResourceNotFoundException"
			if call == "GetParameter" {
				code = "ParameterNotFound"
			}
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type":%q}`, code)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	healthy := map[string]string{
		"DescribeEventBus": `{"Name":"my-bus"}`, "DescribeRule": `{"State":"ENABLED"}`,
		"GetParameter":       `{"Parameter":{"Value":"https://example.com ` + webhook.NewSecret(make([]byte, 32)) + `"}}`,
		"GetQueueAttributes": `{"Attributes":{"ApproximateNumberOfMessages":"0","ApproximateNumberOfMessagesNotVisible":"0"}}`,
	}
	for _, tt := range []struct {
		name      string
		resources [][3]string
		off       bool // the parameter SendEventsToBus is false
		answers   map[string]string
		check     string
		want      string
	}{
		{"off", nil, true, nil, "event bus", "skipped the parameter SendEventsToBus is false"},
		{"without a webhook", withWebhook[:1], false, nil, "event bus", "ok my-bus, without a webhook"},
		{"with a webhook", withWebhook, false, nil, "event bus", "ok my-bus, the rule of the webhook is enabled"},
		{"no bus", withWebhook, false, map[string]string{"DescribeEventBus": ""}, "event bus",
			"problem the event bus my-bus does not exist"},
		{"no rule", withWebhook, false, map[string]string{"DescribeRule": ""}, "event bus",
			"problem the rule my-rule does not exist"},
		{
			"disabled rule", withWebhook, false, map[string]string{"DescribeRule": `{"State":"DISABLED"}`},
			"event bus", "problem the rule my-rule is DISABLED: the webhook receives no events",
		},
		{"no webhook", withWebhook[:1], true, nil, "webhook secret", "skipped the stack has no webhook"},
		{"secret", withWebhook, false, nil, "webhook secret", "ok /hook can be read, secrets: 1"},
		{
			"unusable secret", withWebhook, false,
			map[string]string{"GetParameter": `{"Parameter":{"Value":"http://127.0.0.1 ` + webhook.NewSecret(make([]byte, 32)) +
				`"}}`},
			"webhook secret", "problem /hook: " + webhook.ErrURL.Error(),
		},
		{"no secret", withWebhook, false, map[string]string{"GetParameter": ""}, "webhook secret",
			"problem get parameter /hook"},
		{"mapping of the queue", withWebhook, false, nil, "event source mapping", "ok enabled"},
		{"waiting events", withWebhook, false, nil, "failure queues", "ok 1, all empty"},
		{
			"undelivered events", withWebhook, false,
			map[string]string{"GetQueueAttributes": `{"Attributes":{"ApproximateNumberOfMessages":"2",` +
				`"ApproximateNumberOfMessagesNotVisible":"0"}}`},
			"failure queues", "problem queues with failed events: failed has 2 and 0 in flight",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answers := maps.Clone(healthy)
			maps.Copy(answers, tt.answers)
			aws := httptest.NewServer(respond(tt.resources, answers))
			defer aws.Close()
			_, i := newInstallation(t)
			i.Stack.Name = "stack"
			if !tt.off {
				i.EventSource, i.Stack.Parameters = "stack", map[string]string{"WebhookSecretName": "/hook"}
			}
			i.Stack.Config = sdk.Config{
				Region: "eu-west-1", BaseEndpoint: &aws.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret",
					""),
			}
			got := ""
			doctor.Examine(t.Context(), doctor.Config{
				Installation: i, HTTP: http.DefaultClient, Now: time.Now, Random: rand.Reader,
				Report: func(f doctor.Finding) {
					if f.Check == tt.check {
						got = string(f.Status) + " " + f.Detail
					}
				},
			})
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
