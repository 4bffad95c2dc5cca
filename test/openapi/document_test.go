package openapi_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/openapi"
)

// root is the module's directory, seen from this package.
const root = "../.."

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	if _, err := openapi.Document(t.Context()); err != nil {
		t.Error(err)
	}
}

// The document's operations are the template's routes that the authorizer guards; the others answer 404.
func TestDocumentHasTheTemplatesRoutes(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Document(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var routed []string
	for _, route := range template.API.Routes {
		if route.Authorized {
			routed = append(routed, route.Method+" "+route.Path)
		} else if route.Method != "ANY" {
			t.Errorf("%s %s has no authorizer", route.Method, route.Path)
		}
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if diff := cmp.Diff(routed, documented); diff != "" {
		t.Errorf("routes of template.yaml (-) and operations of the document (+) differ:\n%s", diff)
	}
}

// The request schemas are the files that the domain packages embed and decide by: each is referenced, none is referenced that is not
// embedded where it stands.
func TestRequestSchemasAreTheEmbeddedFiles(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Document(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	referenced := map[string]string{} // operation → file
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			ref := operation.RequestBody.Value.Content["application/json"].Schema.Ref
			name := strings.TrimPrefix(ref, "#/components/schemas/")
			if component := doc.Components.Schemas[name]; component != nil {
				referenced[operation.OperationID] = component.Ref
			}
		}
	}
	want := map[string]string{
		"updateFeedback":            "../pkg/feedback/update.schema.json",
		"updateFeatureTypeLifetime": "../pkg/featuretype/lifetime.schema.json",
		"createServiceAccountToken": "../pkg/pat/create.schema.json",
	}
	if diff := cmp.Diff(want, referenced); diff != "" {
		t.Errorf("referenced files (-want +got):\n%s", diff)
	}
	for _, file := range schemaFiles(t) {
		if !slices.Contains(slices.Collect(maps.Values(referenced)), "../"+file) {
			t.Errorf("no operation references %s", file)
		}
		if !embedded(t, file) {
			t.Errorf("no Go file beside %s embeds it", file)
		}
	}
}

// schemaFiles lists the JSON Schemas below pkg, with slashes, relative to the module.
func schemaFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(root), "pkg", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".schema.json") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// embedded says whether a Go file in the same directory embeds the file.
func embedded(t *testing.T, file string) bool {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(root, filepath.Dir(file), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(sources, func(source string) bool {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte("//go:embed "+filepath.Base(file)+"\n"))
	})
}
