package doctor_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/api/webhook"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
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
	secret := webhook.NewSecret(make([]byte, 32))
	healthy := map[string]string{
		"DescribeEventBus": `{"Name":"my-bus"}`, "DescribeRule": `{"State":"ENABLED"}`,
		"GetParameter":       `{"Parameter":{"Value":"https://example.com ` + secret + `"}}`,
		"GetQueueAttributes": `{"Attributes":{"ApproximateNumberOfMessages":"0","ApproximateNumberOfMessagesNotVisible":"0"}}`,
	}
	for _, row := range table.Rows(t, 5, strings.ReplaceAll(`
		# resources | SendEventsToBus | another answer | check | finding
		0 | false | | event bus | skipped the parameter SendEventsToBus is false
		1 | true | | event bus | ok my-bus, without a webhook
		5 | true | | event bus | ok my-bus, the rule of the webhook is enabled
		5 | true | DescribeEventBus= | event bus | problem the event bus my-bus does not exist
		5 | true | DescribeRule= | event bus | problem the rule my-rule does not exist
		5 | true | DescribeRule={"State":"DISABLED"} | event bus | problem the rule my-rule is DISABLED: the webhook receives no events
		1 | false | | webhook secret | skipped the stack has no webhook
		5 | true | | webhook secret | ok /hook can be read, secrets: 1
		5 | true | GetParameter={"Parameter":{"Value":"http://127.0.0.1 SECRET"}} | webhook secret | problem /hook: URL
		5 | true | GetParameter= | webhook secret | problem get parameter /hook
		5 | true | | event source mapping | ok enabled
		5 | true | | failure queues | ok 1, all empty
		5 | true | GetQueueAttributes={"Attributes":{"ApproximateNumberOfMessages":"2","ApproximateNumberOfMessagesNotVisible":"0"}} | failure queues | problem queues with failed events: failed has 2 and 0 in flight
	`, "/hook: URL", "/hook: "+webhook.ErrURL.Error())) {
		t.Run(strings.Join(row, " "), func(t *testing.T) {
			t.Parallel()
			resources, err := strconv.Atoi(row[0])
			assert.OK(t, err)
			answers := maps.Clone(healthy)
			if call, answer, ok := strings.Cut(row[2], "="); ok {
				answers[call] = strings.ReplaceAll(answer, "SECRET", secret)
			}
			_, i := newInstallation(t)
			if row[1] == "true" {
				i.EventSource, i.Stack.Parameters = "stack", map[string]string{"WebhookSecretName": "/hook"}
			}
			got := findings(t, i, respond(withWebhook[:resources], answers))[row[3]]
			if !strings.HasPrefix(got, row[4]) {
				t.Errorf("%s, want %s", got, row[4])
			}
		})
	}
}
