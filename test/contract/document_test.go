package contract_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/openapi"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi.Document()
	assert.OK(t, err)
	return doc
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	assert.OK(t, document(t).Validate(t.Context(), openapi3.EnableExamplesValidation()))
}

// The operations are the template's routes with an authorizer, and the health check.
func TestDocumentHasTheTemplatesRoutes(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load(filepath.Join("..", "..", "template.yaml"), samtemplate.Settings{})
	assert.OK(t, err)
	var documented, routed []string
	for path, item := range document(t).Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, route := range template.API.Routes {
		if route.Authorized || route.Function == "HealthFunction" && route.Method == http.MethodGet {
			routed = append(routed, route.Method+" "+route.Path)
		}
	}
	slices.Sort(documented)
	slices.Sort(routed)
	assert.Equal(t, routed, documented)
}

// The seven operations of the specification come first, under a tag of their own. Between them are only other methods of
// their paths.
func TestCoreOperationsComeFirst(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	assert.OK(t, err)
	items := regexp.MustCompile(`(?m)^  /`).Split(string(text), -1)[1:] // one for each path
	operation := regexp.MustCompile(`(?m)^      operationId: (\w+)\n      tags: \[core operations\]$`)
	var core []string
	paths := 0 // those that come first
	for i, item := range items {
		for _, found := range operation.FindAllStringSubmatch(item, -1) {
			core, paths = append(core, found[1]), i+1
		}
	}
	assert.Equal(t, []string{
		"updateFeedback", "getAllFeatureTypes", "updateFeatureTypeLifetime", "getContextFields",
		"createServiceAccountToken", "getTrafficUsage", "deletePat",
	}, core)
	assert.Equal(t, len(core), paths)
}

// Every operation declares the statuses of API Gateway and of all functions. One with a path parameter or a body also
// declares how these are rejected.
func TestCommonStatuses(t *testing.T) {
	t.Parallel()
	for path, item := range document(t).Paths.Map() {
		for method, o := range item.Operations() {
			if o.Security != nil { // it needs no credential
				continue
			}
			statuses := []int{401, 413, 429, 500, 502, 503, 504}
			if strings.Contains(path, "{") {
				statuses = append(statuses, 400, 414)
			}
			if o.RequestBody != nil {
				statuses = append(statuses, 400, 415)
			}
			for _, status := range statuses {
				if o.Responses.Status(status) == nil {
					t.Errorf("%s %s does not declare the status %d", method, path, status)
				}
			}
		}
	}
}

// Every operation that changes or deletes the resource of its path has preconditions.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	for path, item := range document(t).Paths.Map() {
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			o := item.GetOperation(method)
			if o == nil {
				continue
			}
			if o.Parameters.GetByInAndName("header", "If-Match") == nil || o.Responses.Status(http.StatusPreconditionFailed) == nil {
				t.Errorf("%s %s does not declare If-Match, or its response 412", method, path)
			}
		}
	}
}

// The traffic report lists the resource paths of the API, and one path for each API of applications.
func TestTrafficPaths(t *testing.T) {
	t.Parallel()
	declared := document(t).Components.Schemas["trafficApiPathSchema"].Value.Properties["apiPath"].Value
	applications := []string{"/api/client", "/api/frontend", "/edge", "/ofrep"}
	for _, path := range append(applications, slices.Sorted(maps.Keys(traffic.CountedPaths()))...) {
		assert.OK(t, declared.VisitJSONString(path))
	}
}

// The name of a function is the operationId of its operation, in lower case with hyphens.
func TestOperationNames(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for _, o := range local.Operations() {
		method, path, _ := strings.Cut(o.Route, " ")
		id := doc.Paths.Find(path).GetOperation(method).OperationID
		want := strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(id, "-$0"))
		if o.Name != want {
			t.Errorf("the function of %s is %s, want %s", o.Route, o.Name, want)
		}
	}
}

// oneProject is a project without members, which has every id.
type oneProject struct{ access.Reader }

func (oneProject) Project(_ context.Context, id string) (*access.Project, error) {
	return new(access.NewProject(id, id)), nil
}

// The description of an operation names what its table requires of the caller.
func TestDescriptionsNameTheRequirements(t *testing.T) {
	t.Parallel()
	doc := document(t)
	permission := regexp.MustCompile(`You need the "(\w+)" permission( in the project| in the environment)?`)
	described := regexp.MustCompile(`Requires the (\w+) permission( in the project| in the environment)?\.|The credential must (identify a user)\.`)
	ctx := access.WithProjects(access.WithPrincipal(t.Context(), access.Principal{ID: "neither a user nor permissions"}),
		oneProject{})
	for _, o := range local.Operations() {
		method, path, _ := strings.Cut(o.Route, " ")
		want := ""
		if err := o.Requires(httptest.NewRequestWithContext(ctx, method, "/", http.NoBody)); err != nil {
			want = "identify a user"
			if match := permission.FindStringSubmatch(apierror.From(err).Message); match != nil {
				want = match[1] + match[2]
			}
		}
		text := strings.Join(strings.Fields(doc.Paths.Find(path).GetOperation(method).Description), " ")
		got := ""
		if match := described.FindStringSubmatch(text); match != nil {
			got = match[1] + match[2] + match[3]
		}
		if want != got {
			t.Errorf("%s requires %q, its description says %q", o.Name, want, got)
		}
	}
}

// The schema of each request body is a file that the Go package in the same folder embeds.
func TestRequestSchemasAreTheEmbeddedFiles(t *testing.T) {
	t.Parallel()
	doc := document(t)
	var referenced []string
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			schema := operation.RequestBody.Value.Content["application/json"].Schema
			alternatives := schema.Value.OneOf
			if alternatives == nil {
				alternatives = openapi3.SchemaRefs{schema}
			}
			for _, one := range alternatives {
				if file, ok := strings.CutPrefix(one.Ref, "../pkg"); ok {
					referenced = append(referenced, "../../pkg"+file)
					continue
				}
				name := strings.TrimPrefix(one.Ref, "#/components/schemas/")
				referenced = append(referenced, filepath.Join("..", doc.Components.Schemas[name].Ref))
			}
		}
	}
	slices.Sort(referenced)
	files, err := filepath.Glob("../../pkg/api/*/*.schema.json")
	for _, file := range files {
		embedding := exec.CommandContext(t.Context(), "grep", "-rqx", "//go:embed "+filepath.Base(file), filepath.Dir(file))
		if embedding.Run() != nil {
			t.Errorf("no Go file embeds %s", file)
		}
	}
	assert.OK(t, err)
	assert.Equal(t, files, slices.Compact(referenced))
}

// isCommand matches the paths whose body is not the resource that the response contains.
var isCommand = regexp.MustCompile("/playground/|/clone$|/state$|/tags$|/code-references$|/validate$|/rotate$|/change-requests(/|$)")

// ignoring contains the operations that ignore unknown properties of their bodies.
var ignoring = []string{"updateFeedback", "updateFeatureTypeLifetime", "createServiceAccountToken", "createPat"}

// All other operations reject an unknown property, also in an object within the body, and accept the properties of
// their response, so that a client can send back what it has received.
func TestUnknownProperties(t *testing.T) {
	t.Parallel()
	for path, item := range document(t).Paths.Map() {
		for method, declared := range item.Operations() {
			if declared.RequestBody == nil {
				continue
			}
			requested := jsonSchema(declared.RequestBody.Value.Content)
			if slices.Contains(ignoring, declared.OperationID) {
				named := strings.Contains(document(t).Info.Description, "`"+declared.OperationID+"`")
				if isClosed(requested) || !named {
					t.Errorf("%s %s rejects unknown properties, or the introduction does not name it", method, path)
				}
				continue
			}
			for _, place := range open("body", requested) {
				if strings.HasPrefix(place, "body/payload") || place == "body/dependency" { // another schema decides
					continue
				}
				t.Errorf("%s %s accepts unknown properties of %s", method, path, place)
			}
			for _, status := range []int{http.StatusOK, http.StatusCreated} {
				response := declared.Responses.Status(status)
				if response == nil || response.Value.Content == nil || isCommand.MatchString(path) {
					continue
				}
				for property := range jsonSchema(response.Value.Content).Properties {
					if requested.Properties[property] == nil {
						t.Errorf("%s %s rejects the property %s of its response", method, path, property)
					}
				}
			}
		}
	}
}

func jsonSchema(content openapi3.Content) *openapi3.Schema {
	return content["application/json"].Schema.Value
}

// open returns the places of the objects in a schema, except maps, in which an unknown property is accepted.
func open(place string, schema *openapi3.Schema) (places []string) {
	if schema.Type.Includes("object") && !isClosed(schema) && schema.AdditionalProperties.Schema == nil {
		places = append(places, place)
	}
	if schema.Items != nil {
		places = append(places, open(place+"/0", schema.Items.Value)...)
	}
	for name, property := range schema.Properties {
		if !property.Value.ReadOnly { // otherwise it is ignored
			places = append(places, open(place+"/"+name, property.Value)...)
		}
	}
	return places
}

func isClosed(schema *openapi3.Schema) bool {
	return schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has
}
