package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// answer is the last response of a script.
type answer struct {
	request string // method and path
	status  int
	header  http.Header
	body    []byte
}

// String shows the answer in a failure, without the secrets that it may hold.
func (a *answer) String() string {
	const enough = 2000
	body := string(a.body)
	if len(body) > enough {
		body = body[:enough] + "…"
	}
	return fmt.Sprintf("%s: %d %s", redact(a.request), a.status, redact(body))
}

// redact takes what could be a credential out of a text.
func redact(text string) string {
	return regexp.MustCompile(`v2_[A-Za-z0-9_-]{60,}`).ReplaceAllString(text, "v2_[redacted]")
}

// json decodes the body.
func (a *answer) json() (any, error) {
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	return value, nil
}

// isError says what is wrong with an error object of this name and, unless it is empty, this message.
func (a *answer) isError(name, message string) error {
	if got := a.header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("the content type is %q, want application/json", got)
	}
	value, err := a.json()
	if err != nil {
		return err
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) != 3 {
		return errors.New("the body is not an object of id, name and message")
	}
	id, isID := object["id"].(string)
	gotName, isName := object["name"].(string)
	gotMessage, isMessage := object["message"].(string)
	uuid := regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	switch {
	case !isID || !isName || !isMessage:
		return errors.New("not all of the error's id, name and message are strings")
	case !uuid.MatchString(id):
		return fmt.Errorf("the error's id %q is no UUID", id)
	case gotName != name:
		return fmt.Errorf("the error's name is %q, want %q", gotName, name)
	case message != "" && gotMessage != message:
		return fmt.Errorf("the error's message is %q, want %q", redact(gotMessage), message)
	}
	return nil
}

// message gives the message of an error object.
func (a *answer) message() string {
	var object struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(a.body, &object); err != nil {
		return ""
	}
	return object.Message
}

// places gives the places that the message of an error object names, sorted, each once.
func (a *answer) places() []string {
	var places []string
	for _, found := range regexp.MustCompile("`(/(?:body|params)[^`]*)`").FindAllStringSubmatch(a.message(), -1) {
		places = append(places, found[1])
	}
	slices.Sort(places)
	return slices.Compact(places)
}
