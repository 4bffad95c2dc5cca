package jsonbody

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/apierror"
)

// Rule is what a request must keep beside the schema of its body. It gets the members that fit the schema, none where the body is no
// object, and says in a sentence what is wrong; "" is nothing.
type Rule func(Object) string

// Read checks the body of r in the contract's order: content type (415), size (413), JSON, schema and rules (400). Its error is an
// *apierror.Error.
func (s *Schema) Read(r *http.Request, rules ...Rule) (Object, error) {
	if types := r.Header.Values("Content-Type"); len(types) != 1 || !isJSON(types[0]) {
		return nil, apierror.New(apierror.ContentType, "The Content-Type must be application/json.")
	}
	body, err := io.ReadAll(r.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, apierror.New(apierror.ContentTooLarge, fmt.Sprintf("The body must not be larger than %d bytes.", tooLarge.Limit))
	}
	if err != nil {
		return nil, invalid("The `/body` must be valid base64 where the request says that it is base64.")
	}
	return s.Decode(body, rules...)
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

// Decode checks JSON, schema and rules of body. Its error is an *apierror.Error of kind Validation, which names all that is wrong.
func (s *Schema) Decode(body []byte, rules ...Rule) (Object, error) {
	object, wrong := s.decode(body)
	for _, rule := range rules {
		if sentence := rule(object); sentence != "" {
			wrong = append(wrong, sentence)
		}
	}
	if len(wrong) > 0 {
		return nil, apierror.New(apierror.Validation, strings.Join(wrong, " "))
	}
	return object, nil
}

// decode gives the members that fit, and what is wrong with JSON or schema.
func (s *Schema) decode(body []byte) (fitting Object, wrong []string) {
	value, failed := parse(body)
	if failed != nil {
		return nil, []string{failed.Message}
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		object = nil
	}
	fitting = maps.Clone(object)
	for _, c := range s.checks {
		sentence := c.violation(value, object)
		if sentence != "" {
			wrong = append(wrong, sentence)
			delete(fitting, c.member)
		}
	}
	slices.Sort(wrong)
	return fitting, wrong
}
