package jsonbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/apierror"
)

// Rule checks what a schema cannot express. Its argument contains the properties that are valid according to the
// schema. It returns a sentence that describes what is wrong, or "".
type Rule func(Object) string

// Read checks the request in the contract's order: content type (415), size (413), then JSON, schema and rules (400).
// Its error is an *apierror.Error. r.Body must fail with an *http.MaxBytesError beyond the size limit.
func (s *Schema) Read(r *http.Request, rules ...Rule) (Object, error) {
	body, err := read(r)
	if err != nil {
		return nil, err
	}
	return s.Decode(body, rules...)
}

// ReadArray is Read for the schema of an array of objects. A rule receives all elements.
func (s *Schema) ReadArray(r *http.Request, rules ...func([]Object) string) ([]Object, error) {
	body, err := read(r)
	if err != nil {
		return nil, err
	}
	value, violations := s.decode(body)
	elements := objects(value)
	for _, rule := range rules {
		if violation := rule(elements); violation != "" {
			violations = append(violations, violation)
		}
	}
	if len(violations) > 0 {
		return nil, apierror.New(apierror.Validation, strings.Join(violations, " "))
	}
	return elements, nil
}

// read reads the body of a request. It checks the content type and the size.
func read(r *http.Request) ([]byte, error) {
	if types := r.Header.Values("Content-Type"); len(types) != 1 || !isJSON(types[0]) {
		return nil, apierror.New(apierror.ContentType, "The Content-Type must be application/json.")
	}
	body, err := io.ReadAll(r.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, apierror.Errorf(apierror.ContentTooLarge, "The body must not be larger than %d bytes.", tooLarge.Limit)
	}
	if err != nil {
		return nil, apierror.New(apierror.Validation,
			"The `/body` must be valid base64 if the request declares it as base64.")
	}
	return body, nil
}

// isJSON reports whether the media type is application/json. It ignores the parameters, even if they are malformed.
func isJSON(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	parsed, _, err := mime.ParseMediaType(mediaType)
	return err == nil && parsed == "application/json"
}

// AsInPath returns the rule that a property, if it is sent, has the value that the path of the request contains. No update
// changes it.
func AsInPath(property, value string) Rule {
	return func(body Object) string {
		if sent, ok := body.TextOK(property); ok && sent != value {
			return violation("/body/"+property, fmt.Sprintf("be %q, as in the path", apierror.Echo(value)), sent)
		}
		return ""
	}
}

// Decode checks JSON, schema and rules. Its error is an *apierror.Error of the kind Validation that names everything
// that is wrong.
func (s *Schema) Decode(body []byte, rules ...Rule) (Object, error) {
	value, violations := s.decode(body)
	object, _ := value.(map[string]any)
	for _, rule := range rules {
		if violation := rule(object); violation != "" {
			violations = append(violations, violation)
		}
	}
	if len(violations) > 0 {
		return nil, apierror.New(apierror.Validation, strings.Join(violations, " "))
	}
	return object, nil
}

// decode returns the body, with its valid properties or all of its elements, and the violations of JSON syntax or schema.
func (s *Schema) decode(body []byte) (valid any, violations []string) {
	if strings.Trim(string(body), " \t\r\n") == "" {
		return nil, []string{"The `/body` must be valid JSON; it is empty."}
	}
	value, err := parse(body)
	if err != nil {
		return nil, []string{syntaxViolation(err)}
	}
	if !s.kind.valid(value) {
		return nil, []string{fmt.Sprintf("The `/body` must be %s; you sent %s.", s.kind.must, echo(value))}
	}
	violations, _ = s.body.validate("/body", value)
	return value, violations
}

const maxDepth = 100 // of arrays and objects (api/openapi.yaml, Requests)

var errDepth = errors.New("nested too deep")

// keepNumbers decodes numbers as json.Number, which keeps their exact value, and limits the depth.
var keepNumbers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, value *any) error {
	switch d.PeekKind() {
	case '0':
		number, err := d.ReadValue()
		*value = json.Number(number)
		return err
	case '[', '{':
		if d.StackDepth() == maxDepth {
			return errDepth
		}
	}
	return errors.ErrUnsupported // use the default
}))

// parse decodes a JSON value. It rejects duplicate names, invalid UTF-8, lone surrogates and trailing data.
func parse(body []byte) (value any, err error) {
	err = jsonv2.Unmarshal(body, &value, keepNumbers)
	return value, err
}

func syntaxViolation(err error) string {
	if errors.Is(err, errDepth) {
		return fmt.Sprintf("The `/body` must not be nested deeper than %d levels.", maxDepth)
	}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return "The `/body` must be valid JSON."
	case errors.Is(err, jsontext.ErrDuplicateName):
		name := apierror.Echo(strings.TrimPrefix(string(syntax.JSONPointer), "/"))
		return fmt.Sprintf("The `/body/%s` property must be unique; you sent it twice.", name)
	}
	return fmt.Sprintf("The `/body` must be valid JSON; there is a syntax error at byte %d.", syntax.ByteOffset)
}
