package openapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// document is the place of the API's document in the module.
const document = "api/openapi.yaml"

// Document reads api/openapi.yaml of the module that the working directory belongs to, with all that it references, and validates it:
// its structure, its schemas and its examples.
func Document(ctx context.Context) (*openapi3.T, error) {
	doc, err := read(ctx)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(ctx, openapi3.EnableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("validate %s: %w", document, err)
	}
	return doc, nil
}

func read(ctx context.Context) (*openapi3.T, error) {
	files, err := moduleFiles()
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.Context = ctx
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, uri *url.URL) ([]byte, error) {
		return fs.ReadFile(files, path.Clean(uri.Path))
	}
	doc, err := loader.LoadFromURI(&url.URL{Path: document})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", document, err)
	}
	return doc, nil
}

// moduleFiles gives the files of the module, the nearest directory above with a go.mod.
func moduleFiles() (fs.FS, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.DirFS(dir), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, errors.New("find the module: no go.mod above the working directory")
		}
		dir = parent
	}
}

// moduleURL is the address under which the schema compiler knows the module's files. Nothing listens there, nothing is asked.
const moduleURL = "file:///module/"

// schemas compiles schemas out of the document by their JSON pointer.
type schemas struct {
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

func newSchemas() (*schemas, error) {
	files, err := moduleFiles()
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(moduleLoader{files})
	return &schemas{compiler, map[string]*jsonschema.Schema{}}, nil
}

// at compiles the schema at a pointer such as /components/schemas/errorSchema.
func (s *schemas) at(pointer string) (*jsonschema.Schema, error) {
	if schema, ok := s.compiled[pointer]; ok {
		return schema, nil
	}
	schema, err := s.compiler.Compile(moduleURL + document + "#" + (&url.URL{Path: pointer}).EscapedPath())
	if err != nil {
		return nil, fmt.Errorf("compile the schema at %s: %w", pointer, err)
	}
	s.compiled[pointer] = schema
	return schema, nil
}

// moduleLoader reads the module's YAML and JSON files.
type moduleLoader struct{ files fs.FS }

var _ jsonschema.URLLoader = moduleLoader{}

func (l moduleLoader) Load(address string) (any, error) {
	name, ok := strings.CutPrefix(address, moduleURL)
	if !ok {
		return nil, fmt.Errorf("the document references %s, which is no file of the module", address)
	}
	data, err := fs.ReadFile(l.files, name)
	if err != nil {
		return nil, fmt.Errorf("read a referenced file: %w", err)
	}
	var value any // JSON is YAML
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	return value, nil
}
