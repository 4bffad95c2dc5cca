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
	"toggleadmin/test/assert"
)

// TestOneToOne checks that functions/<name>/main.go, the resource <Name>Function and events/<name>.json exist together.
func TestOneToOne(t *testing.T) {
	t.Parallel()
	folders, _ := filepath.Glob(root + "functions/*/main.go")
	samples, _ := filepath.Glob(root + "events/*.json")
	functions := load(t, everything).Functions
	if len(functions) != len(folders) || len(functions) != len(samples) {
		t.Errorf("%d functions, %d folders, %d sample events", len(functions), len(folders), len(samples))
	}
	for _, f := range functions {
		if want := strings.ReplaceAll(f.Name, "-", "") + "function"; strings.ToLower(f.LogicalID) != want ||
			!slices.Contains(folders, root+"functions/"+f.Name+"/main.go") ||
			!slices.Contains(samples, root+"events/"+f.Name+".json") {
			t.Errorf("%s has not the folder functions/%s and a sample event", f.LogicalID, f.Name)
		}
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
		assert.OK(t, json.Unmarshal([]byte(read(t, "events/"+f.Name+".json")), &event))
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
