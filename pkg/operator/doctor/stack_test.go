package doctor_test

import (
	"cmp"
	"context"
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

// Resources of stacks: type, logical ID and physical ID.
const (
	topic    = "resource AWS::SNS::Topic AlarmTopic arn:aws:sns:eu-west-1:123456789012:alarms"
	eventBus = "resource AWS::Events::EventBus EventBus my-bus"
)

func TestStack(t *testing.T) {
	t.Parallel()
	_, shared := newInstallation(t)
	bus := []string{eventBus}
	webhook := []string{
		eventBus,
		"resource AWS::Events::Rule WebhookRule my-bus|my-rule",
		"resource AWS::Lambda::EventSourceMapping DeliverWebhookFunctionMessages 1",
		"resource AWS::SQS::Queue WebhookQueue https://sqs/waiting",
		"resource AWS::SQS::Queue WebhookFailures https://sqs/failed",
	}
	for _, test := range []struct {
		stack  []string // resources; alarms, with id, state, age and last action; and others
		call   string   // of AWS that has another answer
		answer string
		check  string
		want   string // beginning of the finding
	}{
		{nil, "", "", "event bus", "skipped the parameter SendEventsToBus is false"},
		{bus, "", "", "event bus", "ok my-bus, without a webhook"},
		{webhook, "", "", "event bus", "ok my-bus, the rule of the webhook is enabled"},
		{
			stack:  webhook,
			call:   "DescribeEventBus",
			answer: "ResourceNotFoundException",
			check:  "event bus",
			want:   "problem the event bus my-bus does not exist",
		},
		{
			stack:  webhook,
			call:   "DescribeRule",
			answer: "ResourceNotFoundException",
			check:  "event bus",
			want:   "problem the rule my-rule does not exist",
		},
		{
			stack:  webhook,
			call:   "DescribeRule",
			answer: `{"State":"DISABLED"}`,
			check:  "event bus",
			want:   "problem the rule my-rule is DISABLED: the webhook receives no events",
		},
		{bus, "", "", "webhook secret", "skipped the stack has no webhook"},
		{webhook, "", "", "webhook secret", "ok /hook can be read, secrets: 1"},
		{
			stack:  webhook,
			call:   "GetParameter",
			answer: `{"Parameter":{"Value":"http://127.0.0.1 whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}}`,
			check:  "webhook secret",
			want:   "problem /hook: the URL must",
		},
		{webhook, "GetParameter", "ParameterNotFound", "webhook secret", "problem get parameter /hook"},
		{nil, "", "", "origin secret", "skipped requests of applications need none"},
		{
			stack:  []string{"secret /origin"},
			call:   "GetParameter",
			answer: `{"Parameter":{"Value":"0123456789abcdef0123456789abcdef"}}`,
			check:  "origin secret",
			want:   "ok /origin can be read",
		},
		{
			stack:  []string{"secret /origin"},
			call:   "GetParameter",
			answer: `{"Parameter":{"Value":"0123456789abcdef"}}`,
			check:  "origin secret",
			want:   "problem /origin must be a text of 32 to 128 visible ASCII characters",
		},
		{[]string{"secret /origin"}, "GetParameter", "ParameterNotFound", "origin secret", "problem get parameter /origin"},
		{webhook, "", "", "event source mapping", "ok enabled"},
		{webhook, "", "", "failure queues", "ok 1, all empty"},
		{
			stack:  webhook,
			call:   "GetQueueAttributes",
			answer: `{"Attributes":{"ApproximateNumberOfMessages":"2","ApproximateNumberOfMessagesNotVisible":"0"}}`,
			check:  "failure queues",
			want:   "problem queues with failed events: failed has 2 and 0 in flight",
		},

		{nil, "", "", "alarms", "skipped the stack has no alarms"},
		{
			stack: []string{"alarm A OK 0s", "alarm B INSUFFICIENT_DATA 0s Successfully executed action arn"},
			check: "alarms",
			want:  "ok 2 alarms, none in state ALARM; 1 have no data yet",
		},
		{
			stack: []string{"alarm A ALARM 1m Failed to execute action arn: no", "alarm B OK 1h"},
			check: "alarms",
			want:  "problem in state ALARM: stack-A",
		},
		{[]string{"alarm A - 0s"}, "", "", "alarms", "problem 1 of the stack's 1 alarms do not exist"},
		// no sweep, in a new stack and in an older one
		{
			stack: []string{"alarm SweepMissingAlarm ALARM 14m"},
			check: "alarms",
			want: "ok 1 alarms, none in state ALARM except stack-SweepMissingAlarm, new and expected to end within " +
				"15 minutes; 0 have no data yet",
		},
		{
			stack: []string{"alarm SweepMissingAlarm ALARM 15m"},
			check: "alarms",
			want:  "problem in state ALARM: stack-SweepMissingAlarm",
		},
		{nil, "", "", "alarm actions", "skipped the stack has no alarms"},
		{
			stack: []string{"alarm A OK 0s", "alarm B INSUFFICIENT_DATA 0s Successfully executed action arn"},
			check: "alarm actions",
			want:  "ok 1 of 2 alarms have notified the topic, without an error",
		},
		{
			stack: []string{"alarm A ALARM 1m Failed to execute action arn: no", "alarm B OK 1h"},
			check: "alarm actions",
			want:  "problem stack-A: Failed to execute action arn: no",
		},
		{
			stack: []string{"alarm A - 0s"},
			check: "alarm actions",
			want:  "ok 0 of 1 alarms have notified the topic, without an error",
		},

		{nil, "", "", "account logging role", "ok arn:aws:iam::123456789012:role/service/logging"},
		{
			stack: []string{"resource AWS::IAM::Role GatewayAccountRole logging"},
			check: "account logging role",
			want:  "ok arn:aws:iam::123456789012:role/service/logging",
		},
		{
			stack: []string{"resource AWS::IAM::Role GatewayAccountRole own"},
			check: "account logging role",
			want: "problem the logging role of API Gateway is arn:aws:iam::123456789012:role/service/logging, " +
				"and not that of the stack, own",
		},
		{
			call:   "account",
			answer: `{"apiKeyVersion":"4"}`,
			check:  "account logging role",
			want:   "problem API Gateway has no logging role in this account and region",
		},
		{
			call:   "GetRole",
			answer: "NoSuchEntity",
			check:  "account logging role",
			want:   "problem the logging role of API Gateway, arn:aws:iam::123456789012:role/service/logging, does not exist",
		},
		{
			check: "Lambda concurrency",
			want:  "ok 1000 concurrent invocations in the account, which is up to 5000 requests per second",
		},
		{
			call:   "account-settings",
			answer: `{"AccountLimit":{"ConcurrentExecutions":10}}`,
			check:  "Lambda concurrency",
			want: "problem 10 concurrent invocations in the account, which is up to 50 requests per second, less " +
				"than ThrottlingRateLimit, 100",
		},
		{
			check: "list of service accounts",
			want:  "ok 200 service accounts with 10 tokens are up to 4.8 MB in their list, of 6 MB",
		},
		{
			stack: []string{"tokens 100"},
			check: "list of service accounts",
			want:  "problem 200 service accounts with 100 tokens are up to 40.8 MB in their list, of 6 MB",
		},

		{[]string{topic}, "", "", "alarm subscriptions", "skipped the stack has no alarms"},
		{
			stack: []string{topic, "alarm A OK 0s", "subscription arn:aws:sns:eu-west-1:123456789012:alarms:1"},
			check: "alarm subscriptions",
			want:  "ok 1 confirmed",
		},
		{
			stack: []string{topic, "alarm A OK 0s"},
			check: "alarm subscriptions",
			want:  "problem nobody receives the alarms: the topic has no subscription",
		},
		{
			stack: []string{
				topic,
				"alarm A OK 0s",
				"subscription PendingConfirmation",
				"subscription arn:aws:sns:eu-west-1:123456789012:alarms:1",
				"subscription Deleted",
			},
			check: "alarm subscriptions",
			want: "problem 2 of 3 receivers of the alarms: ops@example.com is not confirmed, ops@example.com is " +
				"unsubscribed",
		},
		{
			stack: []string{"alarm A OK 0s", "parameter other-topic"},
			check: "alarm subscriptions",
			want:  "skipped the alarms notify other-topic, which is not part of the stack",
		},
	} {
		t.Run(test.check, func(t *testing.T) {
			t.Parallel()
			stack := map[string][][]string{}
			for _, one := range test.stack {
				words := strings.SplitN(one, " ", 5)
				stack[words[0]] = append(stack[words[0]], words[1:])
			}
			server := httptest.NewServer(aws(stack, map[string]string{test.call: test.answer}))
			defer server.Close()
			i := *shared
			i.EventSource, i.Stack.Name = "", "stack"
			i.Stack.Parameters = map[string]string{"ThrottlingRateLimit": "100"}
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
			if names := stack["secret"]; names != nil {
				i.Stack.Parameters["ClientOriginSecret"] = names[0][0]
			}
			if topics := stack["parameter"]; topics != nil {
				i.Stack.Parameters["AlarmTopicArn"] = topics[0][0]
			}
			i.Stack.Config = sdk.Config{Region: "eu-west-1", BaseEndpoint: &server.URL,
				Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got := ""
			doctor.Examine(ctx, doctor.Config{
				Installation: &i, HTTP: http.DefaultClient, Now: time.Now, Random: rand.Reader,
				Report: func(f doctor.Finding) {
					if f.Check == test.check {
						got = string(f.Status) + " " + f.Detail
						cancel() // the test does not need the later checks
					}
				},
			})
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("%+v: %s", test, got)
			}
		})
	}
}
