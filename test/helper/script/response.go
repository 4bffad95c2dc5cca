package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/google/uuid"
)

// response is the response to the last request of a script.
type response struct {
	request string // method and path
	status  int
	header  http.Header
	body    []byte
}

// String returns a description for failures. It contains no secrets.
func (r *response) String() string {
	const most = 2000
	return fmt.Sprintf("%s: %d %s", redact(r.request), r.status, redact(string(r.body[:min(len(r.body), most)])))
}

var secret = regexp.MustCompile(`v2_[A-Za-z0-9_-]{60,}`)

func redact(text string) string { return secret.ReplaceAllString(text, "v2_[redacted]") }

// json decodes the body.
func (r *response) json() (any, error) {
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return value, nil
}

// errorObject asserts that the body is an error object with the name and a message that matches.
func (r *response) errorObject(name string, matches func(message string) bool) error {
	var object struct {
		ID            uuid.UUID
		Name, Message string
	}
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.DisallowUnknownFields()
	contentType, err := r.header.Get("Content-Type"), decoder.Decode(&object)
	if err != nil || object.ID == uuid.Nil || contentType != "application/json" {
		return assert(false, "the body is not an error object with id (a UUID), name and message, or is sent as %q: %v",
			contentType, err)
	}
	return assert(object.Name == name && object.Message != "" && matches(object.Message), "the error is %s: %q", object.Name,
		redact(object.Message))
}

var pointer = regexp.MustCompile("`(/(?:body|params|query)[^`]*)`")

// pointers returns the pointers that the message of a validation error names, sorted.
func pointers(message string) []string {
	var found []string
	for _, match := range pointer.FindAllStringSubmatch(message, -1) {
		found = append(found, match[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// gatewayMessage returns the message of a body with no other member, which gateways send by default, or empty.
func (r *response) gatewayMessage() string {
	var members map[string]any
	if err := json.Unmarshal(r.body, &members); err != nil || len(members) != 1 {
		return ""
	}
	message, _ := members["message"].(string)
	return message
}
