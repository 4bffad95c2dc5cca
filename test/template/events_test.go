package template_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

// sample is what the sample events have in common; an authorizer's has type and methodArn besides.
type sample struct {
	Type              string              `json:"type"`
	MethodArn         string              `json:"methodArn"`
	Resource          string              `json:"resource"`
	Path              string              `json:"path"`
	HTTPMethod        string              `json:"httpMethod"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	PathParameters    map[string]string   `json:"pathParameters"`
	Body              *string             `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
	RequestContext    struct {
		Stage        string         `json:"stage"`
		Path         string         `json:"path"`
		ResourcePath string         `json:"resourcePath"`
		HTTPMethod   string         `json:"httpMethod"`
		RequestID    string         `json:"requestId"`
		Authorizer   map[string]any `json:"authorizer"`
	} `json:"requestContext"`
}

// TestEvents: each sample event is one that API Gateway could send to its function. Their way through the handlers is tested with the
// handlers.
func TestEvents(t *testing.T) {
	t.Parallel()
	read := mustLoad(t)
	for _, function := range read.Functions {
		if !template.BehindAPI(read, function.LogicalID) {
			continue // its event has a form of its own, which its handler's tests hold
		}
		t.Run(function.Name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(root + "events/" + function.Name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if function.Name == recordTraffic {
				checkDelivery(t, read, content)
				return
			}
			var event sample
			if err := json.Unmarshal(content, &event); err != nil {
				t.Fatal(err)
			}
			checkHeaderMaps(t, event)
			checkPath(t, event)
			checkCredential(t, event)
			if function.LogicalID == read.API.Authorizer.Function {
				arn := "/" + event.RequestContext.Stage + "/" + event.HTTPMethod + event.Path
				if event.Type != "REQUEST" || !strings.HasSuffix(event.MethodArn, arn) || event.RequestContext.Authorizer != nil {
					t.Errorf("type %q, method ARN %q: want a REQUEST to …%s", event.Type, event.MethodArn, arn)
				}
				return
			}
			checkRoute(t, read, function, event)
		})
	}
}

// checkHeaderMaps: names as an HTTP/2 client sends them, but for those that API Gateway writes itself.
func checkHeaderMaps(t *testing.T, event sample) {
	t.Helper()
	ours := regexp.MustCompile(`^(Host|User-Agent|X-Amzn-Trace-Id|X-Forwarded-(For|Port|Proto))$`)
	multi := map[string][]string{}
	for name, value := range event.Headers {
		multi[name] = []string{value}
		if name != strings.ToLower(name) && !ours.MatchString(name) {
			t.Errorf("the header %s is not in lower case", name)
		}
	}
	if diff := cmp.Diff(multi, event.MultiValueHeaders); diff != "" {
		t.Errorf("headers and multiValueHeaders:\n%s", diff)
	}
	if (event.Body != nil) != (event.Headers["content-type"] == "application/json") || event.IsBase64Encoded {
		t.Error("body and content-type do not fit")
	}
	if event.Body != nil && !json.Valid([]byte(*event.Body)) {
		t.Errorf("the body %s is not JSON", *event.Body)
	}
}

// checkPath: the raw path is the resource's, its parameters still percent-encoded; the context's path has the stage before it.
func checkPath(t *testing.T, event sample) {
	t.Helper()
	path := event.Resource
	for name, value := range event.PathParameters {
		if _, err := url.PathUnescape(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		path = strings.NewReplacer("{"+name+"}", value, "{"+name+"+}", value).Replace(path)
	}
	if path != event.Path {
		t.Errorf("resource and parameters give %s, path is %s", path, event.Path)
	}
	context := event.RequestContext
	if context.Path != "/dev"+event.Path || context.Stage != "dev" || context.ResourcePath != event.Resource ||
		context.HTTPMethod != event.HTTPMethod || context.RequestID == "" {
		t.Errorf("the request context %+v is another request's", context)
	}
}

// checkCredential: well-formed, so that it goes all the way, and plain to see that it opens nothing.
func checkCredential(t *testing.T, event sample) {
	t.Helper()
	form := regexp.MustCompile(`^(Bearer )?(user:|\*:\*\.)v2_[A-Za-z0-9_-]{22}_example-only-[A-Za-z0-9_-]{30}$`)
	if !form.MatchString(event.Headers["authorization"]) {
		t.Error("the credential has not the form of an example")
	}
}

func checkRoute(t *testing.T, read *samtemplate.Template, function samtemplate.Function, event sample) {
	t.Helper()
	for _, route := range read.API.Routes {
		if route.Function != function.LogicalID || route.Path != event.Resource || route.Method != event.HTTPMethod && route.Method != "ANY" {
			continue
		}
		context := event.RequestContext.Authorizer
		if route.Authorized != (context["principalId"] != nil) {
			t.Errorf("authorizer context %v for a route with authorizer: %t", context, route.Authorized)
		}
		for key, value := range context {
			if _, ok := value.(string); !ok && key != "integrationLatency" {
				t.Errorf("%s reaches a function as a string, not as %v", key, value)
			}
		}
		return
	}
	t.Errorf("no route leads %s %s to %s", event.HTTPMethod, event.Resource, function.LogicalID)
}
