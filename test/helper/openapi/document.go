package openapi

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"toggleadmin/test/helper/repository"
)

// Document returns api/openapi.yaml of the module that contains the working directory, with the files that it
// references. It must not be changed: the process reads it once.
func Document() (*openapi3.T, error) { return document() }

var document = sync.OnceValues(func() (*openapi3.T, error) {
	file, err := repository.File("api/openapi.yaml")
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	return loader.LoadFromFile(file)
})

// schemas validates values against the document's schemas. It is safe for concurrent use.
type schemas struct {
	mu       sync.Mutex // guards compiler, which caches schemas
	compiler *jsonschema.Compiler
	document string // its URL
}

func newSchemas() (*schemas, error) {
	file, err := repository.File("api/openapi.yaml")
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &schemas{compiler: jsonschema.NewCompiler(), document: (&url.URL{Scheme: "file", Path: file}).String()}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	var document any
	if err = yaml.Unmarshal(data, &document); err == nil {
		err = s.compiler.AddResource(s.document, document)
	}
	return s, err
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
