package apierror

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Detail says what is wrong with one place of a request. Its JSON is errorDetailSchema in api/openapi.yaml.
type Detail struct {
	// Path is a JSON pointer that begins with /body, /params, /query or /headers, such as /body/constraints/0/values/1.
	Path string `json:"path"`
	// Keyword is the keyword of JSON Schema that the value violates; "": none has the rule.
	Keyword string `json:"keyword,omitempty"`
	// Limit is the value of the keyword, if it is a number.
	Limit *int64 `json:"limit,omitempty"`
	// Message says what is wrong, without the place and without what was sent, for a form that shows both.
	Message string `json:"message"`
	// sentence is the part of the error's message: it also has the place and what was sent.
	sentence string
}

// At returns the detail of a place whose value is not what it must be. The formatted text completes the sentences "The
// `/body/name` property …" and "The value …", without the period.
func At(path, format string, arguments ...any) Detail {
	text := fmt.Sprintf(format, arguments...)
	subject := "`" + path + "` "
	switch part, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case part == "query":
		subject += "parameter "
	case part == "headers":
		subject = "`" + rest + "` header "
	case rest != "" || path != "/body":
		subject += "property "
	}
	return Detail{Path: path, Message: "The value " + text + ".", sentence: "The " + subject + text + "."}
}

// Missing returns the detail of a required property or parameter.
func Missing(path string) Detail {
	return At(path, "is required").Violating("required", nil).NotSent()
}

// Violating returns the detail with a keyword of JSON Schema and its value, if that is a number.
func (d Detail) Violating(keyword string, limit *int64) Detail {
	d.Keyword, d.Limit = keyword, limit
	return d
}

// Sent returns the detail with the text that was sent, which is quoted and shortened.
func (d Detail) Sent(text string) Detail { return d.SentJSON(fmt.Sprintf("%q", Echo(text))) }

// SentJSON returns the detail with the JSON text of what was sent.
func (d Detail) SentJSON(text string) Detail { return d.after("you sent " + text) }

// NotSent returns the detail of a place that was not sent.
func (d Detail) NotSent() Detail { return d.after("you did not send it") }

// after appends a clause to the sentence.
func (d Detail) after(clause string) Detail {
	d.sentence = strings.TrimSuffix(d.sentence, ".") + "; " + clause + "."
	return d
}

// Invalid returns the error of the kind Validation whose message consists of the sentences of details.
func Invalid(details ...Detail) *Error {
	sentences := make([]string, len(details))
	for i, d := range details {
		sentences[i] = d.sentence
	}
	return &Error{Kind: Validation, Message: strings.Join(sentences, " "), Details: details}
}

// Below returns an error for a value that is a part of the body, at prefix, such as /body/0/payload: the places of err
// begin with it. An error without places is returned as it is.
func Below(prefix string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Details) == 0 {
		return err
	}
	below := *e
	below.Details = slices.Clone(e.Details)
	for i, d := range below.Details {
		rest, found := strings.CutPrefix(d.Path, "/body")
		if !found {
			continue
		}
		d.Path = prefix + rest
		d.sentence = strings.Replace(d.sentence, "`/body"+rest+"` ", "`"+d.Path+"` ", 1)
		if rest == "" {
			d.sentence = strings.Replace(d.sentence, "`"+d.Path+"` ", "`"+d.Path+"` property ", 1)
		}
		below.Message = strings.Replace(below.Message, below.Details[i].sentence, d.sentence, 1)
		below.Details[i] = d
	}
	return &below
}

// Taken returns the error of the kind NameExists for a name at a place. It has the formatted message.
func Taken(path, format string, arguments ...any) *Error {
	e := Errorf(NameExists, format, arguments...)
	e.Details = []Detail{{Path: path, Message: e.Message}}
	return e
}

// InvalidIfAny returns Invalid, or nil if there are no details.
func InvalidIfAny(details []Detail) error {
	if len(details) == 0 {
		return nil
	}
	return Invalid(details...)
}
