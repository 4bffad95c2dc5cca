package jsonbody

import (
	"bytes"
	"encoding/json"
)

// Encode returns the JSON of v in which <, > and & are not escaped, because each escape is six bytes of Lambda's limit
// of a response. Responses are never part of an HTML page.
func Encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// SizeInResponse returns the number of bytes of the JSON of v in Lambda's response, in which the body is a JSON string.
func SizeInResponse(v any) (int, error) {
	text, err := Encode(v)
	if err != nil {
		return 0, err
	}
	return SizeOfString(text), nil
}

// SizeOfString returns the number of bytes of a JSON text as a JSON string, in which a quotation mark and a backslash take
// two bytes.
func SizeOfString(text []byte) int {
	return len(`""`) + len(text) + bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte(`\`))
}
