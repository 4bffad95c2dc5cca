package doctor_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/operator/doctor"
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
	const failure = "Failed to execute action arn:aws:sns:eu-west-1:123456789012:topic. Received error: no"
	for _, tt := range []struct {
		name            string
		alarms          []alarm
		states, actions string // status and detail of the checks
	}{
		{"none", nil, "skipped the stack has no alarms", "skipped the stack has no alarms"},
		{
			"quiet", []alarm{{"A", "OK", 0, ""}, {"B", "INSUFFICIENT_DATA", 0, "Successfully executed action arn"}},
			"ok 2 alarms, none in state ALARM; 1 have no data yet", "ok 1 of 2 alarms have notified the topic, without an error",
		},
		{
			"active", []alarm{{"A", "ALARM", time.Minute, failure}, {"B", "OK", time.Hour, ""}},
			"problem in state ALARM: stack-A", "problem stack-A: " + failure,
		},
		{"deleted", []alarm{{"A", "", 0, ""}}, "problem 1 of the stack's 1 alarms do not exist",
			"ok 0 of 1 alarms have notified the topic, without an error"},
		{
			"no sweep in a new stack", []alarm{{doctor.SweepMissing, "ALARM", 14 * time.Minute, ""}},
			"ok 1 alarms, none in state ALARM except stack-SweepMissingAlarm, which is new and ends within 15 minutes; 0 have no data yet",
			"ok 0 of 1 alarms have notified the topic, without an error",
		},
		{
			"no sweep", []alarm{{doctor.SweepMissing, "ALARM", 15 * time.Minute, ""}},
			"problem in state ALARM: stack-SweepMissingAlarm",
			"ok 0 of 1 alarms have notified the topic, without an error",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := examineAlarms(t, tt.alarms, nil, "")
			if diff := cmp.Diff([]string{tt.states, tt.actions}, []string{got["alarms"], got["alarm actions"]}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAlarmSubscriptions(t *testing.T) {
	t.Parallel()
	one := []alarm{{"A", "OK", 0, ""}}
	for _, tt := range []struct {
		name          string
		alarms        []alarm
		subscriptions []string
		parameter     string // AlarmTopicArn
		want          string // status and detail of the check
	}{
		{"no alarms", nil, nil, "", "skipped the stack has no alarms"},
		{"confirmed", one, []string{topic + ":1"}, "", "ok 1 confirmed"},
		{"none", one, nil, "", "problem nobody receives the alarms: the topic has no subscription"},
		{
			"not confirmed", one, []string{"PendingConfirmation", topic + ":1", "Deleted"}, "",
			"problem 2 of 3 receivers of the alarms: ops@example.com is not confirmed, ops@example.com is unsubscribed",
		},
		{"another topic", one, nil, topic + "-2",
			"skipped the alarms notify " + topic + "-2, which is not part of the stack"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := examineAlarms(t, tt.alarms, tt.subscriptions, tt.parameter)["alarm subscriptions"]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

const topic = "arn:aws:sns:eu-west-1:123456789012:alarms"

// examineAlarms returns the findings about a stack as "status detail", by check.
func examineAlarms(t *testing.T, alarms []alarm, subscriptions []string, topicParameter string) map[string]string {
	t.Helper()
	now := time.Now().Truncate(time.Second)
	aws := httptest.NewServer(monitoring(alarms, subscriptions, now))
	t.Cleanup(aws.Close)
	_, i := newInstallation(t)
	i.Stack.Name, i.Stack.Parameters = "stack", map[string]string{"AlarmTopicArn": topicParameter}
	i.Stack.Config = sdk.Config{
		Region: "eu-west-1", BaseEndpoint: &aws.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret",
			""),
	}
	got := map[string]string{}
	doctor.Examine(t.Context(), doctor.Config{
		Installation: i, HTTP: http.DefaultClient, Now: func() time.Time { return now }, Random: rand.Reader,
		Report: func(f doctor.Finding) { got[f.Check] = string(f.Status) + " " + f.Detail },
	})
	return got
}
