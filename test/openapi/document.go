package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// Document reads api/openapi.yaml of the module that contains the working directory, and the files that it references.
func Document(ctx context.Context) (*openapi3.T, error) {
	file, err := find(filepath.Join("api", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.Context = ctx
	loader.IsExternalRefsAllowed = true
	doc, err := loader.LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", file, err)
	}
	return doc, nil
}

// find returns the absolute path of a file of the module.
func find(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("there is no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// schemas validates values against the document's schemas. It is safe for concurrent use.
type schemas struct {
	mu       sync.Mutex // guards compiler, which caches schemas
	compiler *jsonschema.Compiler
	document string // its URL
}

func newSchemas() (*schemas, error) {
	file, err := find(filepath.Join("api", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	var document any
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	s := &schemas{compiler: jsonschema.NewCompiler(), document: (&url.URL{Scheme: "file", Path: file}).String()}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	if err := s.compiler.AddResource(s.document, document); err != nil {
		return nil, fmt.Errorf("add %s: %w", file, err)
	}
	return s, nil
}

// validate validates a value against the schema at a JSON pointer.
func (s *schemas) validate(pointer string, value any) error {
	s.mu.Lock()
	schema, err := s.compiler.Compile(s.document + "#" + (&url.URL{Path: pointer}).EscapedPath())
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("compile the schema at %s: %w", pointer, err)
	}
	return schema.Validate(value)
}

// join appends tokens to a JSON pointer.
func join(pointer string, tokens ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, token := range tokens {
		pointer += "/" + escape.Replace(token)
	}
	return pointer
}

// follow returns the pointer that ref refers to. If ref is empty, it returns pointer.
func follow(ref, pointer string) string {
	if target, ok := strings.CutPrefix(ref, "#"); ok {
		return target
	}
	return pointer
}
