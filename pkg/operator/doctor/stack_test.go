package doctor_test

import (
	"cmp"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/table"
)

// aws responds as the services of AWS do about a stack. A call without an answer, which is JSON or the code of an error,
// gets the response of testdata/aws.tmpl.
func aws(stack map[string][][]string, answers map[string]string) http.HandlerFunc {
	templates := template.Must(template.New("").Funcs(template.FuncMap{"ago": func(age string) (string, error) {
		d, err := time.ParseDuration(age)
		return time.Now().Add(-d).Format(time.RFC3339), err
	}}).ParseFiles("testdata/aws.tmpl"))
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body)) // JSON has no Action
		target := r.Header.Get("X-Amz-Target")
		resource := path.Base(r.URL.Path)
		if templates.Lookup(resource) == nil { // it is an id
			resource = path.Base(path.Dir(r.URL.Path))
		}
		call := cmp.Or(form.Get("Action"), target[strings.LastIndex(target, ".")+1:], resource)
		if strings.Contains(string(body), "waiting") {
			call += " waiting"
		}
		switch answer := answers[call]; {
		case strings.HasPrefix(answer, "{"):
			_, _ = io.WriteString(w, answer)
		case answer == "" && templates.Lookup(call) != nil:
			if err := templates.ExecuteTemplate(w, call, map[string]any{"Stack": stack, "Form": form}); err != nil {
				panic(err)
			}
		default:
			w.WriteHeader(http.StatusBadRequest)
			if form.Get("Action") != "" {
				_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>"+answer+"</Code></Error></ErrorResponse>")
				return
			}
			_, _ = io.WriteString(w, `{"__type":"`+cmp.Or(answer, "ResourceNotFoundException")+`"}`)
		}
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	_, i := newInstallation(t)
	for _, row := range table.Rows(t, 4, strings.NewReplacer("BUS", "resource AWS::Events::EventBus EventBus my-bus",
		"WEBHOOK", "resource AWS::Events::EventBus EventBus my-bus; resource AWS::Events::Rule WebhookRule my-bus|my-rule; "+
			"resource AWS::Lambda::EventSourceMapping DeliverWebhookFunctionMessages 1; "+
			"resource AWS::SQS::Queue WebhookQueue https://sqs/waiting; "+
			"resource AWS::SQS::Queue WebhookFailures https://sqs/failed",
		"TOPIC:", "arn:aws:sns:eu-west-1:123456789012:alarms:",
		"TOPIC", "resource AWS::SNS::Topic AlarmTopic arn:aws:sns:eu-west-1:123456789012:alarms", "NOTIFIED", "alarms have notified the topic, without an error").Replace(`
		# resources | another answer | check | beginning of the finding
		| | event bus | skipped the parameter SendEventsToBus is false
		BUS | | event bus | ok my-bus, without a webhook
		WEBHOOK | | event bus | ok my-bus, the rule of the webhook is enabled
		WEBHOOK | DescribeEventBus=ResourceNotFoundException | event bus | problem the event bus my-bus does not exist
		WEBHOOK | DescribeRule=ResourceNotFoundException | event bus | problem the rule my-rule does not exist
		WEBHOOK | DescribeRule={"State":"DISABLED"} | event bus | problem the rule my-rule is DISABLED: the webhook receives no events
		BUS | | webhook secret | skipped the stack has no webhook
		WEBHOOK | | webhook secret | ok /hook can be read, secrets: 1
		WEBHOOK | GetParameter={"Parameter":{"Value":"http://127.0.0.1 whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}} | webhook secret | problem /hook: the URL must
		WEBHOOK | GetParameter=ParameterNotFound | webhook secret | problem get parameter /hook
		WEBHOOK | | event source mapping | ok enabled
		WEBHOOK | | failure queues | ok 1, all empty
		WEBHOOK | GetQueueAttributes={"Attributes":{"ApproximateNumberOfMessages":"2","ApproximateNumberOfMessagesNotVisible":"0"}} | failure queues | problem queues with failed events: failed has 2 and 0 in flight

		# alarms: id, state, age and last action
		| | alarms | skipped the stack has no alarms
		alarm A OK 0s; alarm B INSUFFICIENT_DATA 0s Successfully executed action arn | | alarms | ok 2 alarms, none in state ALARM; 1 have no data yet
		alarm A ALARM 1m Failed to execute action arn: no; alarm B OK 1h | | alarms | problem in state ALARM: stack-A
		alarm A - 0s | | alarms | problem 1 of the stack's 1 alarms do not exist
		# no sweep, in a new stack and in an older one
		alarm SweepMissingAlarm ALARM 14m | | alarms | ok 1 alarms, none in state ALARM except stack-SweepMissingAlarm, which is new and ends within 15 minutes; 0 have no data yet
		alarm SweepMissingAlarm ALARM 15m | | alarms | problem in state ALARM: stack-SweepMissingAlarm
		| | alarm actions | skipped the stack has no alarms
		alarm A OK 0s; alarm B INSUFFICIENT_DATA 0s Successfully executed action arn | | alarm actions | ok 1 of 2 NOTIFIED
		alarm A ALARM 1m Failed to execute action arn: no; alarm B OK 1h | | alarm actions | problem stack-A: Failed to execute action arn: no
		alarm A - 0s | | alarm actions | ok 0 of 1 NOTIFIED

		| | account logging role | ok arn:aws:iam::123456789012:role/service/logging
		resource AWS::IAM::Role GatewayAccountRole logging | | account logging role | ok arn:aws:iam::123456789012:role/service/logging
		resource AWS::IAM::Role GatewayAccountRole own | | account logging role | problem the logging role of API Gateway is arn:aws:iam::123456789012:role/service/logging, and not that of the stack, own
		| account={"apiKeyVersion":"4"} | account logging role | problem API Gateway has no logging role in this account and region
		| GetRole=NoSuchEntity | account logging role | problem the logging role of API Gateway, arn:aws:iam::123456789012:role/service/logging, does not exist
		| | Lambda concurrency | ok 1000 concurrent invocations in the account, which is up to 5000 requests per second
		| account-settings={"AccountLimit":{"ConcurrentExecutions":10}} | Lambda concurrency | problem 10 concurrent invocations in the account, which is up to 50 requests per second, less than ThrottlingRateLimit, 100
		| | list of service accounts | ok 200 service accounts with 10 tokens are up to 4.8 MB in their list, of 6 MB
		tokens 100 | | list of service accounts | problem 200 service accounts with 100 tokens are up to 40.8 MB in their list, of 6 MB

		TOPIC | | alarm subscriptions | skipped the stack has no alarms
		TOPIC; alarm A OK 0s; subscription TOPIC:1 | | alarm subscriptions | ok 1 confirmed
		TOPIC; alarm A OK 0s | | alarm subscriptions | problem nobody receives the alarms: the topic has no subscription
		TOPIC; alarm A OK 0s; subscription PendingConfirmation; subscription TOPIC:1; subscription Deleted | | alarm subscriptions | problem 2 of 3 receivers of the alarms: ops@example.com is not confirmed, ops@example.com is unsubscribed
		alarm A OK 0s; parameter other-topic | | alarm subscriptions | skipped the alarms notify other-topic, which is not part of the stack
	`)) {
		stack, answers := map[string][][]string{}, map[string]string{}
		for one := range strings.SplitSeq(row[0], "; ") {
			words := strings.SplitN(one, " ", 5)
			stack[words[0]] = append(stack[words[0]], words[1:])
		}
		if call, answer, ok := strings.Cut(row[1], "="); ok {
			answers[call] = answer
		}
		server := httptest.NewServer(aws(stack, answers))
		i.EventSource, i.Stack.Name, i.Stack.Parameters = "", "stack", map[string]string{"ThrottlingRateLimit": "100"}
		i.TokenLimit, i.AccountLimit = installation.DefaultTokenLimit, user.DefaultLimit
		if limits := stack["tokens"]; limits != nil {
			i.TokenLimit, _ = strconv.Atoi(limits[0][0])
		}
		if len(stack["resource"]) > 0 {
			i.EventSource = "stack"
		}
		if len(stack["resource"]) > 1 {
			i.Stack.Parameters["WebhookSecretName"] = "/hook"
		}
		if topics := stack["parameter"]; topics != nil {
			i.Stack.Parameters["AlarmTopicArn"] = topics[0][0]
		}
		i.Stack.Config = sdk.Config{Region: "eu-west-1", BaseEndpoint: &server.URL,
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
		got := ""
		doctor.Examine(t.Context(), doctor.Config{
			Installation: i, HTTP: http.DefaultClient, Now: time.Now, Random: rand.Reader,
			Report: func(f doctor.Finding) {
				if f.Check == row[2] {
					got = string(f.Status) + " " + f.Detail
				}
			},
		})
		server.Close()
		if !strings.HasPrefix(got, row[3]) {
			t.Errorf("%s: %s", row, got)
		}
	}
}
