package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator holds exchanges against the document. Load makes it; it is safe for concurrent use.
type Validator struct {
	operations []*operation
	notFound   answer // of a path or method that the document does not have
}

// Exchange is a request and its answer, both with their whole bodies. The Body fields of Request and Response are not read.
type Exchange struct {
	Request      *http.Request
	RequestBody  []byte
	Response     *http.Response
	ResponseBody []byte
	BasePath     string // what stands before /api in the address: a stage, or nothing
}

// Check says what the document does not foresee about an exchange; nil if it foresees all of it. The text holds no credential.
func (v *Validator) Check(e Exchange) error {
	if err := v.check(e); err != nil {
		secret := regexp.MustCompile(`v2_[A-Za-z0-9_-]{60,}`)
		text := fmt.Sprintf("%s %s answered with %d: %v", e.Request.Method, rawPath(e.Request.URL), e.Response.StatusCode, err)
		return errors.New(secret.ReplaceAllString(text, "v2_[redacted]"))
	}
	return nil
}

func (v *Validator) check(e Exchange) error {
	raw := rawPath(e.Request.URL)
	path, ok := strings.CutPrefix(raw, strings.TrimSuffix(e.BasePath, "/"))
	if !ok {
		return fmt.Errorf("the path does not begin with %s", e.BasePath)
	}
	if refusedByGateway(raw, e.Response) {
		return nil
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	for _, op := range v.operations {
		values, ok := op.match(e.Request.Method, path)
		if !ok {
			continue
		}
		declared, ok := op.answers[e.Response.StatusCode]
		if !ok {
			return errors.New("the status is not declared for this operation")
		}
		if e.Response.StatusCode < http.StatusMultipleChoices {
			if err := op.fits(e.Request, e.RequestBody, values); err != nil {
				return fmt.Errorf("but the request does not fit: %w", err)
			}
		}
		return declared.check(e)
	}
	if e.Response.StatusCode != http.StatusNotFound {
		return errors.New("the document has no such operation, so it must be 404")
	}
	return v.notFound.check(e)
}

func (a answer) check(e Exchange) error {
	for _, declared := range a.headers {
		values := e.Response.Header.Values(declared.name)
		switch {
		case len(values) == 0 && declared.required:
			return fmt.Errorf("the header %s is missing", declared.name)
		case len(values) > 1:
			return fmt.Errorf("the header %s is there %d times", declared.name, len(values))
		case len(values) == 1:
			if err := declared.schema.Validate(values[0]); err != nil {
				return fmt.Errorf("the header %s does not fit: %w", declared.name, err)
			}
		}
	}
	switch {
	case e.Request.Method == http.MethodHead:
		return nil
	case a.body == nil && len(e.ResponseBody) > 0:
		return fmt.Errorf("the body has %d bytes instead of none", len(e.ResponseBody))
	case a.body == nil:
		return nil
	}
	if sent := e.Response.Header.Values("Content-Type"); len(sent) != 1 || sent[0] != mediaType {
		return fmt.Errorf("the content type is %q, not %s", sent, mediaType)
	}
	return checkBody(a.body, e.ResponseBody)
}

func checkBody(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("the body does not fit: %w", err)
	}
	return nil
}

// refusedByGateway says whether an answer is one of those that API Gateway makes by itself before the service sees the request, with a
// body that nobody can set (contract, section 1): headers too large, a URL with a broken escape or one too long, a body above 10 MB,
// which gets plain text.
func refusedByGateway(path string, response *http.Response) bool {
	const longURL = 1400 // bytes; the gateway's limit is on the method ARN, 1,600 bytes, which holds the path
	switch response.StatusCode {
	case http.StatusRequestHeaderFieldsTooLarge:
		return true
	case http.StatusRequestEntityTooLarge:
		return response.Header.Get("Content-Type") == "text/plain"
	case http.StatusBadRequest, http.StatusRequestURITooLong:
		_, err := url.PathUnescape(path)
		return err != nil || len(path) > longURL
	default:
		return false
	}
}

// rawPath is the path as it went over the wire.
func rawPath(u *url.URL) string {
	path, _, _ := strings.Cut(u.RequestURI(), "?")
	return path
}
