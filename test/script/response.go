package script

import (
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
	value, err := r.json()
	if err != nil {
		return err
	}
	object, ok := value.(map[string]any)
	if contentType := r.header.Get("Content-Type"); !ok || len(object) != 3 || contentType != "application/json" {
		return assert(false, "the body is not an error object with id, name and message, or is sent as %q", contentType)
	}
	message, _ := object["message"].(string)
	if err := uuid.Validate(fmt.Sprint(object["id"])); err != nil {
		return assert(false, "the id of the error is not a UUID: %v", err)
	}
	return assert(object["name"] == name && message != "" && matches(message), "the error is %v: %q", object["name"],
		redact(message))
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
