package template_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/accesslog"
)

// TestOneToOne checks that functions/<name>/main.go, the resource <Name>Function and events/<name>.json exist together.
func TestOneToOne(t *testing.T) {
	t.Parallel()
	names := func(pattern string, name func(string) string) (found []string) {
		paths, _ := filepath.Glob(root + pattern)
		for _, path := range paths {
			found = append(found, name(path))
		}
		return found
	}
	folders := names("functions/*/main.go", func(path string) string { return filepath.Base(filepath.Dir(path)) })
	samples := names("events/*.json", func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") })
	var functions []string
	for _, f := range load(t, nil).Functions {
		functions = append(functions, f.Name)
		if want := strings.ReplaceAll(f.Name, "-", "") + "function"; strings.ToLower(f.LogicalID) != want {
			t.Errorf("functions/%s has the logical id %s", f.Name, f.LogicalID)
		}
	}
	slices.Sort(functions)
	if diff := cmp.Diff(functions, folders); diff != "" {
		t.Errorf("template.yaml and functions/:\n%s", diff)
	}
	if diff := cmp.Diff(functions, samples); diff != "" {
		t.Errorf("template.yaml and events/:\n%s", diff)
	}
}

// sample has the members of a proxy event and of an authorizer's event.
type sample struct {
	events.APIGatewayProxyRequest
	Type      string `json:"type"`
	MethodArn string `json:"methodArn"`
}

// TestEvents checks that the sample events are events that API Gateway can send to their functions. Tests of the handlers run them.
func TestEvents(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	for _, f := range template.Functions {
		content := read(t, "events/"+f.Name+".json")
		switch routes := routesOf(template, f.LogicalID); {
		case len(f.LogSubscriptions) > 0:
			checkDelivery(t, template.API.AccessLogFormat, content)
		case f.LogicalID == template.API.Authorizer.Function:
			event := checkRequest(t, f.Name, content)
			suffix := "/" + event.RequestContext.Stage + "/" + event.HTTPMethod + event.Path
			if event.Type != "REQUEST" || !strings.HasSuffix(event.MethodArn, suffix) || event.RequestContext.Authorizer != nil {
				t.Errorf("%s: type %q, method ARN %q: want a REQUEST to …%s", f.Name, event.Type, event.MethodArn, suffix)
			}
		case len(routes) > 0:
			event := checkRequest(t, f.Name, content)
			i := slices.IndexFunc(routes, func(r samtemplate.Route) bool {
				return r.Path == event.Resource && (r.Method == event.HTTPMethod || r.Method == "ANY")
			})
			if i < 0 || routes[i].Authorized != (event.RequestContext.Authorizer["principalId"] != nil) {
				t.Errorf("%s: no route sends %s %s with this authorizer context", f.Name, event.HTTPMethod, event.Resource)
			}
			for key, value := range event.RequestContext.Authorizer {
				if _, ok := value.(string); !ok && key != "integrationLatency" {
					t.Errorf("%s: a function receives %s as a text, not as %v", f.Name, key, value)
				}
			}
		}
	}
}

func routesOf(template *samtemplate.Template, function string) (routes []samtemplate.Route) {
	for _, r := range template.API.Routes {
		if r.Function == function {
			routes = append(routes, r)
		}
	}
	return routes
}

// checkRequest checks that the parts of a request fit together.
func checkRequest(t *testing.T, name, content string) (event sample) {
	t.Helper()
	if err := json.Unmarshal([]byte(content), &event); err != nil {
		t.Fatal(err)
	}
	multi := map[string][]string{}
	for header, value := range event.Headers {
		multi[header] = []string{value}
		if header != strings.ToLower(header) && !regexp.MustCompile(`^(Host|User-Agent|X-(Amzn|Forwarded)-.*)$`).MatchString(header) {
			t.Errorf("%s: the header %s is not in lower case", name, header) // as HTTP/2 clients send it
		}
	}
	if diff := cmp.Diff(multi, event.MultiValueHeaders); diff != "" {
		t.Errorf("%s: headers and multiValueHeaders:\n%s", name, diff)
	}
	if (event.Body != "") != (event.Headers["content-type"] == "application/json") || event.Body != "" && !json.Valid([]byte(event.Body)) {
		t.Errorf("%s: body and content-type do not fit", name)
	}
	path := event.Resource
	for parameter, value := range event.PathParameters {
		path = strings.NewReplacer("{"+parameter+"}", value, "{"+parameter+"+}", value).Replace(path)
	}
	c := event.RequestContext
	got := []string{event.Path, c.Stage, c.Path, c.ResourcePath, c.HTTPMethod}
	if diff := cmp.Diff([]string{path, "dev", "/dev" + path, event.Resource, event.HTTPMethod}, got); diff != "" || c.RequestID == "" {
		t.Errorf("%s: the path and the request context differ:\n%s", name, diff)
	}
	credential := regexp.MustCompile(`^(Bearer )?(user:|\*:\*\.)v2_[A-Za-z0-9_-]{22}_example-only-[A-Za-z0-9_-]{30}$`)
	if !credential.MatchString(event.Headers["authorization"]) {
		t.Errorf("%s: the credential must have a valid form and be recognizable as an example", name)
	}
	return event
}

// checkDelivery checks that the lines of a delivery have the members of the access log's format.
func checkDelivery(t *testing.T, format, content string) {
	t.Helper()
	var event events.CloudwatchLogsEvent
	if err := json.Unmarshal([]byte(content), &event); err != nil {
		t.Fatal(err)
	}
	lines, err := accesslog.Messages(event.AWSLogs.Data)
	if err != nil || len(lines) == 0 {
		t.Fatalf("%d lines, error %v", len(lines), err)
	}
	members := func(object string) []string {
		var fields map[string]string
		if err := json.Unmarshal([]byte(object), &fields); err != nil {
			t.Error(err)
		}
		return sortedKeys(fields)
	}
	for _, line := range lines {
		if diff := cmp.Diff(members(format), members(line)); diff != "" {
			t.Errorf("the line %s:\n%s", line, diff)
		}
	}
}
