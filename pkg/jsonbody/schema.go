package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/lambdahttp"
)

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile makes a Schema of a file's bytes. The format date-time is the contract's.
func Compile(file []byte) (*Schema, error) {
	const name = "body.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: validateDateTime})
	if err := compiler.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("add a JSON Schema: %w", err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile a JSON Schema: %w", err)
	}
	return &Schema{compiled}, nil
}

func validateDateTime(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil // another keyword's business
	}
	_, err := datetime.Parse(text)
	return err
}

// Read checks the body of r in the contract's order: content type (415), size (413), JSON and schema (400). Its error is an
// *apierror.Error.
func (s *Schema) Read(r *http.Request) (Object, error) {
	if types := r.Header.Values("Content-Type"); len(types) != 1 || !isJSON(types[0]) {
		return nil, apierror.New(apierror.ContentType, "The Content-Type must be application/json.")
	}
	body, err := lambdahttp.Body(r)
	switch {
	case errors.Is(err, lambdahttp.ErrTooLarge):
		return nil, apierror.New(apierror.ContentTooLarge, fmt.Sprintf("The body must not be larger than %d bytes.", lambdahttp.MaxBody))
	case err != nil:
		return nil, invalid("The `/body` must be valid base64 where the request says that it is base64.")
	}
	return s.Decode(body)
}

// isJSON accepts application/json in any letter case with any parameters.
func isJSON(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	if strings.Contains(mediaType, ",") {
		return false
	}
	parsed, _, err := mime.ParseMediaType(mediaType)
	return err == nil && parsed == "application/json"
}

// Decode checks JSON and schema of body. Its error is an *apierror.Error of kind Validation.
func (s *Schema) Decode(body []byte) (Object, error) {
	value, raw, failed := parse(body)
	if failed != nil {
		return nil, failed
	}
	if err := s.compiled.Validate(value); err != nil {
		violation, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return nil, fmt.Errorf("validate a body: %w", err)
		}
		return nil, apierror.New(apierror.Validation, describe(violation, value, raw))
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the JSON Schema of a body must demand an object")
	}
	return object, nil
}
