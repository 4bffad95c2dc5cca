package jsonbody

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/apierror"
)

// Rule checks what a schema cannot express. Its argument contains the properties that are valid according to the
// schema. It returns what is wrong.
type Rule func(Object) []apierror.Detail

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
func (s *Schema) ReadArray(r *http.Request, rules ...func([]Object) []apierror.Detail) ([]Object, error) {
	body, err := read(r)
	if err != nil {
		return nil, err
	}
	return s.DecodeArray(body, rules...)
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
		return nil, apierror.Invalid(apierror.At("/body", "must be valid base64 if the request declares it as base64"))
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
	return func(body Object) []apierror.Detail {
		if sent, ok := body.TextOK(property); ok && sent != value {
			return []apierror.Detail{
				apierror.At("/body/"+property, "must be %q, as in the path", apierror.Echo(value)).Sent(sent),
			}
		}
		return nil
	}
}

// ReadableName returns the rule that the property name, if it is sent, is readable.
func ReadableName(isReadable func(string) bool) Rule { return Readable("name", isReadable) }

// Readable returns the rule that a property, if it is sent, is readable.
func Readable(property string, isReadable func(string) bool) Rule {
	return func(body Object) []apierror.Detail {
		if text, sent := body.TextOK(property); sent && !isReadable(text) {
			return []apierror.Detail{
				apierror.At("/body/"+property, "must have a visible character and no control characters"),
			}
		}
		return nil
	}
}

// Decode checks JSON, schema and rules. Its error is an *apierror.Error of the kind Validation that names everything
// that is wrong.
func (s *Schema) Decode(body []byte, rules ...Rule) (Object, error) {
	value, violations := s.decode(body)
	object, _ := value.(map[string]any)
	for _, rule := range rules {
		violations = append(violations, rule(object)...)
	}
	if len(violations) > 0 {
		return nil, apierror.Invalid(violations...)
	}
	return object, nil
}

// DecodeArray is Decode for the schema of an array of objects.
func (s *Schema) DecodeArray(body []byte, rules ...func([]Object) []apierror.Detail) ([]Object, error) {
	value, violations := s.decode(body)
	elements := objects(value)
	for _, rule := range rules {
		violations = append(violations, rule(elements)...)
	}
	if len(violations) > 0 {
		return nil, apierror.Invalid(violations...)
	}
	return elements, nil
}

// decode returns the body, with its valid properties or all of its elements, and the violations of JSON syntax or schema.
func (s *Schema) decode(body []byte) (valid any, violations []apierror.Detail) {
	if strings.Trim(string(body), " \t\r\n") == "" {
		return nil, []apierror.Detail{apierror.At("/body", "must be valid JSON; it is empty")}
	}
	value, err := parse(body)
	if err != nil {
		return nil, []apierror.Detail{syntaxViolation(err)}
	}
	if !s.kind.is(value) {
		return nil, []apierror.Detail{
			apierror.At("/body", "must be %s", s.kind.phrase).Violating("type", nil).SentJSON(echo(value)),
		}
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

func syntaxViolation(err error) apierror.Detail {
	if errors.Is(err, errDepth) {
		return apierror.At("/body", "must not be nested deeper than %d levels", maxDepth)
	}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return apierror.At("/body", "must be valid JSON")
	case errors.Is(err, jsontext.ErrDuplicateName):
		place := "/body/" + apierror.Echo(strings.TrimPrefix(string(syntax.JSONPointer), "/"))
		return apierror.At(place, "must be unique; you sent it twice")
	}
	return apierror.At("/body", "must be valid JSON; there is a syntax error at byte %d", syntax.ByteOffset)
}
