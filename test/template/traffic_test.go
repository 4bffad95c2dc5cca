package template_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
)

const recordTraffic = "record-traffic"

func recorder(t *testing.T, read *samtemplate.Template) (samtemplate.Function, traffic.Paths) {
	t.Helper()
	for _, function := range read.Functions {
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
	read := mustLoad(t)
	want := traffic.Paths{}
	for _, route := range read.API.Routes {
		if route.Authorized {
			want[route.Path] = true
		}
	}
	if _, got := recorder(t, read); cmp.Diff(want, got) != "" {
		t.Errorf("COUNTED_PATHS and the operations' routes:\n%s", cmp.Diff(want, got))
	}
}

// checkDelivery: the sample event has lines of the template's own format, of paths that are counted and of others.
func checkDelivery(t *testing.T, read *samtemplate.Template, content []byte) {
	t.Helper()
	var event struct {
		AWSLogs struct{ Data string } `json:"awslogs"`
	}
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatal(err)
	}
	_, paths := recorder(t, read)
	batch, err := traffic.Decode(event.AWSLogs.Data, paths)
	if err != nil {
		t.Fatal(err)
	}
	if batch.Events == 0 || batch.Malformed > 0 || len(batch.Usage) == 0 || batch.Uncounted == 0 {
		t.Errorf("%+v", batch)
	}
	lines, err := accesslog.Messages(event.AWSLogs.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if got, want := members(t, line), members(t, read.API.AccessLogFormat); !slices.Equal(got, want) {
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
