package template_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/test/helper/assert"
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
// Package test/helper/sampleevent checks the responses.
func TestEvents(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	for _, f := range template.Functions {
		var routes []string
		for _, r := range template.API.Routes {
			if r.Function == f.LogicalID || r.Authorized && template.API.Authorizer.Function == f.LogicalID {
				routes = append(routes, r.Method+" "+r.Path)
			}
		}
		if routes == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var event events.APIGatewayProxyRequest
			assert.OK(t, json.Unmarshal([]byte(read(t, "events/"+f.Name+".json")), &event))
			if method := event.HTTPMethod + " "; !slices.Contains(routes, method+event.Resource) &&
				!slices.Contains(routes, "ANY "+event.Resource) {
				t.Errorf("no route sends %s%s to it", method, event.Resource)
			}
			path := event.Resource
			for parameter, value := range event.PathParameters {
				path = strings.NewReplacer("{"+parameter+"}", value, "{"+parameter+"+}", value).Replace(path)
			}
			if strings.TrimSuffix(event.Path, "/") == path { // API Gateway ignores the slash
				path = event.Path
			}
			c := event.RequestContext
			assert.Equal(t, []string{path, "dev", "/dev" + path, event.Resource, event.HTTPMethod},
				[]string{event.Path, c.Stage, c.Path, c.ResourcePath, c.HTTPMethod})
			headers := map[string][]string{}
			for name, value := range event.Headers {
				headers[name] = []string{value}
			}
			assert.Equal(t, headers, event.MultiValueHeaders)
		})
	}
}
