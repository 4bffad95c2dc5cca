package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var errNoScalar = errors.New("an object or array stands where a string must be")

// readObject reads an object and calls member for each name, which must read the value.
func readObject(d *jsontext.Decoder, member func(name string) error) error {
	start, err := d.ReadToken()
	if err != nil {
		return err
	}
	if start.Kind() != '{' {
		return fmt.Errorf("found %s where an object must be", start.Kind())
	}
	for d.PeekKind() != '}' {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		name, err := unquote(raw)
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// readOneOrMore reads one value of a kind or an array of them.
func readOneOrMore(d *jsontext.Decoder, kind jsontext.Kind, value func() error) error {
	if d.PeekKind() == kind {
		return value()
	}
	start, err := d.ReadToken()
	if err != nil {
		return err
	}
	if start.Kind() != '[' {
		return fmt.Errorf("found %s where %s or an array must be", start.Kind(), kind)
	}
	for d.PeekKind() != ']' {
		if err := value(); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

func readString(d *jsontext.Decoder) (string, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	if raw.Kind() != '"' {
		return "", fmt.Errorf("found %s where a string must be", raw.Kind())
	}
	return unquote(raw)
}

// unquote gives the text of a JSON string. What every answer has costs no memory.
func unquote(raw jsontext.Value) (string, error) {
	if bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil && len(text) == 0 {
			return "", err
		}
		return string(text), nil // invalid text has become U+FFFD
	}
	switch text := raw[1 : len(raw)-1]; string(text) {
	case "statusCode":
		return "statusCode", nil
	case "headers":
		return "headers", nil
	case "multiValueHeaders":
		return "multiValueHeaders", nil
	case "body":
		return "body", nil
	case "isBase64Encoded":
		return "isBase64Encoded", nil
	case "Content-Type":
		return "Content-Type", nil
	case "Cache-Control":
		return "Cache-Control", nil
	case "X-Content-Type-Options":
		return "X-Content-Type-Options", nil
	case "X-Request-Id":
		return "X-Request-Id", nil
	case "application/json":
		return "application/json", nil
	case "no-store":
		return "no-store", nil
	case "nosniff":
		return "nosniff", nil
	case "principalId":
		return "principalId", nil
	case "policyDocument":
		return "policyDocument", nil
	case "context":
		return "context", nil
	case "Version":
		return "Version", nil
	case "Statement":
		return "Statement", nil
	case "Action":
		return "Action", nil
	case "Effect":
		return "Effect", nil
	case "Resource":
		return "Resource", nil
	case "Allow":
		return "Allow", nil
	case "Deny":
		return "Deny", nil
	case "execute-api:Invoke":
		return "execute-api:Invoke", nil
	default:
		return string(text), nil
	}
}

// readScalar reads a string, number or boolean as text; ok is false for null.
func readScalar(d *jsontext.Decoder) (text string, ok bool, err error) {
	raw, err := d.ReadValue()
	if err != nil {
		return "", false, err
	}
	switch raw.Kind() {
	case '"':
		text, err = unquote(raw)
		return text, true, err
	case '{', '[':
		return "", false, errNoScalar
	case 'n':
		return "", false, nil
	}
	return string(raw), true, nil
}

// readStrings reads a string or an array of strings.
func readStrings(d *jsontext.Decoder) ([]string, error) {
	var all []string
	err := readOneOrMore(d, '"', func() error {
		s, err := readString(d)
		all = append(all, s)
		return err
	})
	return all, err
}

// readEnd makes sure that nothing follows.
func readEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON document")
	}
	return nil
}
