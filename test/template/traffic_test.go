package template_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
)

const recordTraffic = "record-traffic"

func recorder(t *testing.T, template *samtemplate.Template) (samtemplate.Function, traffic.Paths) {
	t.Helper()
	for _, function := range template.Functions {
		if function.Name == recordTraffic {
			paths, err := traffic.ParsePaths(function.Environment["COUNTED_PATHS"])
			if err != nil {
				t.Fatal(err)
			}
			return function, paths
		}
	}
	t.Fatal("nothing records the traffic")
	return samtemplate.Function{}, nil
}

// TestCountedPaths: those that have an operation.
func TestCountedPaths(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	want := traffic.Paths{}
	for _, route := range template.API.Routes {
		if route.Authorized {
			want[route.Path] = route.Path
		}
	}
	if _, got := recorder(t, template); cmp.Diff(want, got) != "" {
		t.Errorf("COUNTED_PATHS and the operations' routes:\n%s", cmp.Diff(want, got))
	}
}

// TestAccessLogIsRecorded: the function reads the very group that the API writes, all of it, and what it cannot record is kept as long
// as a queue can.
func TestAccessLogIsRecorded(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	const queue = "RecordTrafficFailures"
	for _, resource := range template.Resources {
		switch resource.LogicalID {
		case "Api":
			arn, _ := at(resource.Properties, "AccessLogSetting", "DestinationArn").(string)
			if !strings.Contains(arn, ":log-group:AccessLogs:") {
				t.Errorf("the API logs to %s", arn)
			}
		case "RecordTrafficFunction":
			event := at(resource.Properties, "Events", "AccessLog")
			if at(event, "Type") != "CloudWatchLogs" || at(event, "Properties", "LogGroupName") != "AccessLogs" || at(event, "Properties", "FilterPattern") != "" {
				t.Errorf("it is given %v", event)
			}
			failure := at(resource.Properties, "EventInvokeConfig", "DestinationConfig", "OnFailure")
			if arn, _ := at(failure, "Destination").(string); at(failure, "Type") != "SQS" || !strings.HasSuffix(arn, ":"+queue) {
				t.Errorf("failures go to %v", failure)
			}
		case queue:
			if at(resource.Properties, "MessageRetentionPeriod") != 14*24*3600 || at(resource.Properties, "SqsManagedSseEnabled") != true {
				t.Errorf("the queue of failures: %v", resource.Properties)
			}
		}
	}
}

// TestExactTraffic: by batch unless the parameter says otherwise.
func TestExactTraffic(t *testing.T) {
	t.Parallel()
	for parameter, want := range map[string]string{"": "false", "false": "false", "true": "true"} {
		settings := samtemplate.Settings{Parameters: map[string]string{}}
		if parameter != "" {
			settings.Parameters["ExactTraffic"] = parameter
		}
		template, err := samtemplate.Load(root+"template.yaml", settings)
		if err != nil {
			t.Fatal(err)
		}
		if function, _ := recorder(t, template); function.Environment["EXACT_TRAFFIC"] != want {
			t.Errorf("%q: %v", parameter, function.Environment)
		}
	}
}

// checkDelivery: the sample event has lines of the template's own format, of paths that are counted and of others.
func checkDelivery(t *testing.T, template *samtemplate.Template, content []byte) {
	t.Helper()
	var event struct {
		AWSLogs struct{ Data string } `json:"awslogs"`
	}
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatal(err)
	}
	_, paths := recorder(t, template)
	batch, err := traffic.Decode(event.AWSLogs.Data, paths)
	if err != nil {
		t.Fatal(err)
	}
	if batch.Events == 0 || batch.Malformed > 0 || len(batch.Requests) == 0 || batch.Uncounted == 0 {
		t.Errorf("%+v", batch)
	}
	lines, err := accesslog.Messages(event.AWSLogs.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if got, want := members(t, line), members(t, template.API.AccessLogFormat); !slices.Equal(got, want) {
			t.Errorf("the line %s has other members than the format: %v", line, want)
		}
	}
}

// members gives the names of an object's members.
func members(t *testing.T, object string) (names []string) {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
