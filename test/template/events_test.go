package template_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/samtemplate"
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
	slices.Sort(samples) // Glob sorts with the extension
	var functions []string
	for _, f := range load(t, everything).Functions {
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

// TestEvents checks that the sample events of functions behind the API are requests that API Gateway can send to them.
// Package test/sampleevent checks the responses.
func TestEvents(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	for _, f := range template.Functions {
		authorizer := f.LogicalID == template.API.Authorizer.Function
		if !authorizer && !slices.ContainsFunc(template.API.Routes,
			func(r samtemplate.Route) bool { return r.Function == f.LogicalID }) {
			continue
		}
		var event events.APIGatewayProxyRequest
		if err := json.Unmarshal([]byte(read(t, "events/"+f.Name+".json")), &event); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(template.API.Routes, func(r samtemplate.Route) bool {
			return (r.Function == f.LogicalID || authorizer && r.Authorized) && r.Path == event.Resource &&
				(r.Method == event.HTTPMethod || r.Method == "ANY")
		}) {
			t.Errorf("%s: no route sends %s %s to it", f.Name, event.HTTPMethod, event.Resource)
		}
		path := event.Resource
		for parameter, value := range event.PathParameters {
			path = strings.NewReplacer("{"+parameter+"}", value, "{"+parameter+"+}", value).Replace(path)
		}
		if strings.TrimSuffix(event.Path, "/") == path { // API Gateway ignores the slash
			path = event.Path
		}
		c := event.RequestContext
		got := []string{event.Path, c.Stage, c.Path, c.ResourcePath, c.HTTPMethod}
		if diff := cmp.Diff([]string{path, "dev", "/dev" + path, event.Resource, event.HTTPMethod}, got); diff != "" {
			t.Errorf("%s: the path and the request context differ:\n%s", f.Name, diff)
		}
		headers := map[string][]string{}
		for name, value := range event.Headers {
			headers[name] = []string{value}
		}
		if diff := cmp.Diff(headers, event.MultiValueHeaders); diff != "" {
			t.Errorf("%s: headers and multiValueHeaders differ:\n%s", f.Name, diff)
		}
	}
}
