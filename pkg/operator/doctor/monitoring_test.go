package doctor_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

// alarm is an alarm in the responses of AWS.
type alarm struct {
	id     string // logical; the name is "stack-" and the id
	state  string
	age    time.Duration
	action string // summary of its last action
}

// monitoring responds as CloudFormation, CloudWatch and SNS to a stack with these alarms, and with a topic with these
// subscriptions (ARNs, of which two are states), in the forms of their API references. Other services reject every
// call.
func monitoring(alarms []alarm, subscriptions []string, now time.Time) http.HandlerFunc {
	lists := map[string]string{
		"ListStackResources": "StackResourceSummaries", "DescribeAlarms": "MetricAlarms",
		"DescribeAlarmHistory":     "AlarmHistoryItems",
		"ListSubscriptionsByTopic": "Subscriptions",
	}
	return func(w http.ResponseWriter, r *http.Request) {
		call := r.FormValue("Action")
		if lists[call] == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		members := ""
		switch call {
		case "ListStackResources":
			members += "<member><ResourceType>AWS::SNS::Topic</ResourceType><LogicalResourceId>AlarmTopic</LogicalResourceId>" +
				"<PhysicalResourceId>" + topic + "</PhysicalResourceId></member>"
		case "ListSubscriptionsByTopic":
			for _, subscription := range subscriptions {
				members += "<member><TopicArn>" + r.FormValue("TopicArn") + "</TopicArn><Endpoint>ops@example.com</Endpoint>" +
					"<SubscriptionArn>" + subscription + "</SubscriptionArn></member>"
			}
		}
		for _, a := range alarms {
			name := "stack-" + a.id
			switch {
			case call == "ListStackResources":
				members += fmt.Sprintf("<member><ResourceType>AWS::CloudWatch::Alarm</ResourceType><LogicalResourceId>%s</LogicalResourceId>"+
					"<PhysicalResourceId>%s</PhysicalResourceId></member>", a.id, name)
			case call == "DescribeAlarms" && a.state != "":
				members += fmt.Sprintf("<member><AlarmName>%s</AlarmName><StateValue>%s</StateValue><AlarmConfigurationUpdatedTimestamp>%s"+
					"</AlarmConfigurationUpdatedTimestamp></member>", name, a.state, now.Add(-a.age).Format(time.RFC3339))
			case call == "DescribeAlarmHistory" && r.FormValue("AlarmName") == name &&
				r.FormValue("HistoryItemType") == "Action" && a.action != "":
				members += "<member><HistorySummary>" + a.action + "</HistorySummary></member>"
			}
		}
		fmt.Fprintf(w, "<%[1]sResponse><%[1]sResult><%[2]s>%[3]s</%[2]s></%[1]sResult></%[1]sResponse>", call, lists[call],
			members)
	}
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 3, strings.ReplaceAll(`
		# alarms: id, state, age and last action | finding about the states | finding about the actions
		| skipped the stack has no alarms | skipped the stack has no alarms
		A OK 0s; B INSUFFICIENT_DATA 0s Successfully executed action arn | ok 2 alarms, none in state ALARM; 1 have no data yet | ok 1 of 2 NOTIFIED
		A ALARM 1m Failed to execute action arn: no; B OK 1h | problem in state ALARM: stack-A | problem stack-A: Failed to execute action arn: no
		A - 0s | problem 1 of the stack's 1 alarms do not exist | ok 0 of 1 NOTIFIED
		# no sweep, in a new stack and in an older one
		SweepMissingAlarm ALARM 14m | ok 1 alarms, none in state ALARM except stack-SweepMissingAlarm, which is new and ends within 15 minutes; 0 have no data yet | ok 0 of 1 NOTIFIED
		SweepMissingAlarm ALARM 15m | problem in state ALARM: stack-SweepMissingAlarm | ok 0 of 1 NOTIFIED
	`, "NOTIFIED", "alarms have notified the topic, without an error")) {
		got := examineAlarms(t, parse(t, row[0]), nil, "")
		assert.Equal(t, row[1:], []string{got["alarms"], got["alarm actions"]})
	}
}

// parse returns alarms from a text.
func parse(t *testing.T, text string) (alarms []alarm) {
	t.Helper()
	for one := range strings.SplitSeq(text, "; ") {
		if words := strings.SplitN(one+" ", " ", 4); text != "" {
			age, err := time.ParseDuration(words[2])
			assert.OK(t, err)
			alarms = append(alarms, alarm{words[0], strings.Trim(words[1], "-"), age, strings.TrimSpace(words[3])})
		}
	}
	return alarms
}

func TestAlarmSubscriptions(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, strings.ReplaceAll(`
		# alarms | subscriptions | AlarmTopicArn | finding
		| | | skipped the stack has no alarms
		A OK 0s | TOPIC:1 | | ok 1 confirmed
		A OK 0s | | | problem nobody receives the alarms: the topic has no subscription
		A OK 0s | PendingConfirmation TOPIC:1 Deleted | | problem 2 of 3 receivers of the alarms: ops@example.com is not confirmed, ops@example.com is unsubscribed
		A OK 0s | | TOPIC-2 | skipped the alarms notify TOPIC-2, which is not part of the stack
	`, "TOPIC", topic)) {
		got := examineAlarms(t, parse(t, row[0]), strings.Fields(row[1]), row[2])["alarm subscriptions"]
		if got != row[3] {
			t.Errorf("got %q, want %q", got, row[3])
		}
	}
}

const topic = "arn:aws:sns:eu-west-1:123456789012:alarms"

// examineAlarms returns the findings about a stack as "status detail", by check.
func examineAlarms(t *testing.T, alarms []alarm, subscriptions []string, topicParameter string) map[string]string {
	t.Helper()
	_, i := newInstallation(t)
	i.Stack.Parameters = map[string]string{"AlarmTopicArn": topicParameter}
	return findings(t, i, monitoring(alarms, subscriptions, time.Now()))
}

// findings returns the findings about a stack as "status detail", by check. aws responds as the services of AWS.
func findings(t *testing.T, i *installation.Installation, aws http.Handler) map[string]string {
	t.Helper()
	server := httptest.NewServer(aws)
	t.Cleanup(server.Close)
	i.Stack.Name = "stack"
	i.Stack.Config = sdk.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
	got := map[string]string{}
	doctor.Examine(t.Context(), doctor.Config{
		Installation: i, HTTP: http.DefaultClient, Now: time.Now, Random: rand.Reader,
		Report: func(f doctor.Finding) { got[f.Check] = string(f.Status) + " " + f.Detail },
	})
	return got
}
