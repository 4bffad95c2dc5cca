package openapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// operation is one method of one path, its schemas compiled.
type operation struct {
	method     string
	segments   []string                      // of the path template: "", api, admin, feedback, {id}
	parameters map[string]*jsonschema.Schema // of the path, by name
	body       *jsonschema.Schema            // of the request; nil where it has none
	answers    map[int]answer                // by status
}

// answer is one declared response.
type answer struct {
	headers []header
	body    *jsonschema.Schema // nil: the body is empty
}

// header is one declared response header.
type header struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

// mediaType is the only one of the API.
const mediaType = "application/json"

// Load reads the document and compiles its schemas. Whether the document itself is in order is for Document to say.
func Load(ctx context.Context) (*Validator, error) {
	doc, err := read(ctx)
	if err != nil {
		return nil, err
	}
	compile, err := newSchemas()
	if err != nil {
		return nil, err
	}
	validator := &Validator{}
	if validator.notFound, err = compile.answer("/components/responses/notFound", doc.Components.Responses["notFound"]); err != nil {
		return nil, err
	}
	for path, item := range doc.Paths.Map() {
		for method, declared := range item.Operations() {
			op, err := compile.operation(path, method, item, declared)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			validator.operations = append(validator.operations, op)
		}
	}
	return validator, nil
}

func (s *schemas) operation(path, method string, item *openapi3.PathItem, declared *openapi3.Operation) (*operation, error) {
	at := pointer("/paths", path)
	op := &operation{method: method, segments: strings.Split(path, "/")}
	op.parameters, op.answers = map[string]*jsonschema.Schema{}, map[int]answer{}
	for i, parameter := range item.Parameters {
		if parameter.Value.In != openapi3.ParameterInPath {
			return nil, fmt.Errorf("parameter %q is in %s; only path parameters are checked", parameter.Value.Name, parameter.Value.In)
		}
		schema, err := s.at(pointer(at, "parameters", strconv.Itoa(i), "schema"))
		if err != nil {
			return nil, err
		}
		op.parameters[parameter.Value.Name] = schema
	}
	at = pointer(at, strings.ToLower(method))
	if declared.RequestBody != nil {
		schema, err := s.at(pointer(referenced(declared.RequestBody.Ref, pointer(at, "requestBody")), "content", mediaType, "schema"))
		if err != nil {
			return nil, err
		}
		op.body = schema
	}
	for status, response := range declared.Responses.Map() {
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, fmt.Errorf("status %q is not a number", status)
		}
		if op.answers[code], err = s.answer(pointer(at, "responses", status), response); err != nil {
			return nil, err
		}
	}
	return op, nil
}

func (s *schemas) answer(at string, response *openapi3.ResponseRef) (answer, error) {
	at = referenced(response.Ref, at)
	var result answer
	for name, declared := range response.Value.Headers {
		schema, err := s.at(pointer(referenced(declared.Ref, pointer(at, "headers", name)), "schema"))
		if err != nil {
			return answer{}, err
		}
		result.headers = append(result.headers, header{name, declared.Value.Required, schema})
	}
	slices.SortFunc(result.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
	for name := range response.Value.Content {
		if name != mediaType {
			return answer{}, fmt.Errorf("%s: content type %s is not %s", at, name, mediaType)
		}
		schema, err := s.at(pointer(at, "content", mediaType, "schema"))
		if err != nil {
			return answer{}, err
		}
		result.body = schema
	}
	return result, nil
}

// match says whether the operation has this method and raw path, and gives the raw values of its path parameters.
func (op *operation) match(method, rawPath string) (map[string]string, bool) {
	segments := strings.Split(rawPath, "/")
	if method != op.method || len(segments) != len(op.segments) {
		return nil, false
	}
	values := map[string]string{}
	for i, want := range op.segments {
		name, isParameter := strings.CutPrefix(want, "{")
		switch {
		case isParameter && segments[i] != "":
			values[strings.TrimSuffix(name, "}")] = segments[i]
		case segments[i] != want:
			return nil, false
		}
	}
	return values, true
}

// fits says whether a request that was answered with success has the declared parameters and body.
func (op *operation) fits(request *http.Request, body []byte, values map[string]string) error {
	for name, raw := range values {
		value, err := url.PathUnescape(raw)
		if err != nil {
			return fmt.Errorf("its parameter %s is not percent-encoded: %w", name, err)
		}
		if schema := op.parameters[name]; schema == nil {
			return fmt.Errorf("its parameter %s is not declared", name)
		} else if err := schema.Validate(value); err != nil {
			return fmt.Errorf("its parameter %s does not fit: %w", name, err)
		}
	}
	if op.body == nil {
		return nil
	}
	if sent, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(sent), mediaType) {
		return fmt.Errorf("its content type is %q, not %s", request.Header.Get("Content-Type"), mediaType)
	}
	return checkBody(op.body, body)
}

// referenced is the pointer of what ref references, or at where it is no reference.
func referenced(ref, at string) string {
	if target, ok := strings.CutPrefix(ref, "#"); ok {
		return target
	}
	return at
}

// pointer appends tokens to a JSON pointer.
func pointer(base string, tokens ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, token := range tokens {
		base += "/" + escape.Replace(token)
	}
	return base
}
