package openapi_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/assert"
	"toggleadmin/test/openapi"
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

// The operations are the template's routes with an authorizer.
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
		if route.Authorized {
			routed = append(routed, route.Method+" "+route.Path)
		}
	}
	slices.Sort(documented)
	slices.Sort(routed)
	assert.Equal(t, routed, documented)
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
			name := strings.TrimPrefix(operation.RequestBody.Value.Content["application/json"].Schema.Ref,
				"#/components/schemas/")
			referenced = append(referenced, filepath.Join("..", doc.Components.Schemas[name].Ref))
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
