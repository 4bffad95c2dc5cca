package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator compares exchanges with the document. It is safe for concurrent use.
type Validator struct {
	doc     *openapi3.T
	schemas *schemas
}

// Load returns the validator of the document, which the process reads once.
func Load() (*Validator, error) { return load() }

var load = sync.OnceValues(func() (*Validator, error) {
	doc, err := Document()
	schemas, other := newSchemas()
	return &Validator{doc, schemas}, errors.Join(err, other)
})

// exchange is a request and its response.
type exchange struct {
	request  *http.Request
	sent     []byte
	response *http.Response
	received []byte
	basePath string
}

const mediaType = "application/json"

var credential = regexp.MustCompile(`v2_[A-Za-z0-9_-]{60,}`)

// check returns an error if the exchange deviates from the document. The error contains no credential.
func (v *Validator) check(e *exchange) error {
	rawPath, _, _ := strings.Cut(e.request.URL.RequestURI(), "?")
	if refusedByGateway(rawPath, e.response) {
		return nil
	}
	if err := v.compare(e, rawPath); err != nil {
		text := fmt.Sprintf("%s %s returned %d: %v", e.request.Method, rawPath, e.response.StatusCode, err)
		return errors.New(credential.ReplaceAllString(text, "v2_[redacted]"))
	}
	return nil
}

// refusedByGateway reports whether API Gateway refused the request before the service saw it, with a body that cannot
// be configured (contract section 1).
func refusedByGateway(rawPath string, response *http.Response) bool {
	const longPath = 1400 // bytes; the limit is on the method ARN, 1,600 bytes, which contains the path
	switch response.StatusCode {
	case http.StatusRequestHeaderFieldsTooLarge:
		return true
	case http.StatusRequestEntityTooLarge:
		return response.Header.Get("Content-Type") == "text/plain"
	case http.StatusBadRequest, http.StatusRequestURITooLong:
		_, err := url.PathUnescape(rawPath)
		return err != nil || len(rawPath) > longPath
	}
	return false
}

func (v *Validator) compare(e *exchange, rawPath string) error {
	path, ok := strings.CutPrefix(rawPath, strings.TrimSuffix(e.basePath, "/"))
	if !ok {
		return fmt.Errorf("the path does not begin with %s", e.basePath)
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	// { is after letters, so a parameter matches last.
	for _, template := range slices.Sorted(maps.Keys(v.doc.Paths.Map())) {
		item := v.doc.Paths.Value(template)
		parameters, matches := match(template, path)
		operation := item.Operations()[e.request.Method]
		if !matches || operation == nil {
			continue
		}
		pointer, status := join("/paths", template, strings.ToLower(e.request.Method)), strconv.Itoa(e.response.StatusCode)
		response := operation.Responses.Value(status)
		if response == nil {
			return errors.New("the status is not declared for this operation")
		}
		if e.response.StatusCode < http.StatusMultipleChoices {
			if err := v.compareRequest(e, join("/paths", template), item, operation, parameters); err != nil {
				return fmt.Errorf("the status is a success, but the request is invalid: %w", err)
			}
		}
		return v.compareResponse(e, follow(response.Ref, join(pointer, "responses", status)), response.Value)
	}
	if e.request.Method == http.MethodHead && path == "/health" {
		return nil // the document describes GET
	}
	isRead := e.request.Method == http.MethodGet || e.request.Method == http.MethodHead
	if isRead && (path == "/" || path == "/console" || strings.HasPrefix(path, "/console/")) {
		return nil // the document does not describe the web pages
	}
	if e.response.StatusCode != http.StatusNotFound {
		return errors.New("the document has no such operation, so the status must be 404")
	}
	return v.compareResponse(e, "/components/responses/notFound", v.doc.Components.Responses["notFound"].Value)
}

// match returns the escaped parameters of a path that matches a template.
func match(template, path string) (parameters map[string]string, matches bool) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	parameters = map[string]string{}
	for i, segment := range want {
		if name, isParameter := strings.CutPrefix(segment, "{"); isParameter && got[i] != "" {
			parameters[strings.TrimSuffix(name, "}")] = got[i]
		} else if got[i] != segment {
			return nil, false
		}
	}
	return parameters, true
}

func (v *Validator) compareRequest(
	e *exchange, pointer string, item *openapi3.PathItem, operation *openapi3.Operation, parameters map[string]string,
) error {
	for _, parameter := range operation.Parameters {
		if parameter.Value.In != openapi3.ParameterInHeader { // a header is a text
			return errors.New("parameters of a single method that are not headers are not supported: declare them for the path")
		}
	}
	for i, parameter := range item.Parameters {
		name := parameter.Value.Name
		value, err := url.PathUnescape(parameters[name])
		if parameter.Value.In == openapi3.ParameterInQuery {
			query := e.request.URL.Query()
			if !query.Has(name) {
				continue
			}
			value = query.Get(name)
		}
		if err != nil {
			return fmt.Errorf("the parameter %s is not percent-encoded: %w", name, err)
		}
		if err := v.schemas.validate(join(pointer, "parameters", strconv.Itoa(i), "schema"), value); err != nil {
			return fmt.Errorf("the parameter %s: %w", name, err)
		}
	}
	if operation.RequestBody == nil {
		return nil
	}
	contentType, _, _ := strings.Cut(e.request.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(contentType), mediaType) {
		return fmt.Errorf("the content type is %q", contentType)
	}
	pointer = join(pointer, strings.ToLower(e.request.Method), "requestBody")
	return v.compareBody(join(follow(operation.RequestBody.Ref, pointer), "content", mediaType, "schema"), e.sent)
}

func (v *Validator) compareResponse(e *exchange, pointer string, declared *openapi3.Response) error {
	for name, header := range declared.Headers {
		values := e.response.Header.Values(name)
		if len(values) == 0 && !header.Value.Required {
			continue
		}
		if len(values) != 1 {
			return fmt.Errorf("the header %s is missing or repeated: %q", name, values)
		}
		if err := v.schemas.validate(join(follow(header.Ref, join(pointer, "headers", name)), "schema"),
			values[0]); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	if e.request.Method == http.MethodHead {
		return nil
	}
	if len(declared.Content) == 0 {
		if len(e.received) > 0 {
			return fmt.Errorf("the body has %d bytes instead of 0", len(e.received))
		}
		return nil
	}
	if contentType := e.response.Header.Values("Content-Type"); len(contentType) != 1 || contentType[0] != mediaType {
		return fmt.Errorf("the content type is %q", contentType)
	}
	return v.compareBody(join(pointer, "content", mediaType, "schema"), e.received)
}

func (v *Validator) compareBody(pointer string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	return v.schemas.validate(pointer, value)
}
