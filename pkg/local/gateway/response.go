package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// errMalformedAnswer is the cause where a function's output is no proxy response.
var errMalformedAnswer = errors.New("malformed Lambda proxy response")

// answer is a function's proxy response.
type answer struct {
	status  int
	headers []answerHeader // in the exchange's buffers
	body    []byte         // in the exchange's buffers
}

// answerHeader is one value of a header.
type answerHeader struct {
	name, value string // name in canonical form
	multi       bool   // stands in multiValueHeaders
}

// parseAnswer reads a function's output by the rules of a REST API [APIGW/set-up-lambda-proxy-integrations].
func (x *exchange) parseAnswer(output []byte) (answer, error) {
	var a answer
	if len(output) > maxResponse {
		return a, fmt.Errorf("function's response of %d bytes is larger than 6 MB", len(output))
	}
	a.headers, a.body = x.buffers.headers[:0], x.buffers.body[:0]
	d := x.buffers.decode(output)
	err := readObject(d, func(name string) error { return a.readMember(d, name) })
	if err == nil {
		err = readEnd(d)
	}
	x.buffers.headers, x.buffers.body = a.headers, a.body
	if err == nil && (a.status < 200 || a.status > 599) {
		err = errors.New("no statusCode from 200 to 599")
	}
	if err != nil {
		return a, fmt.Errorf("%w: %w", errMalformedAnswer, err)
	}
	return a, nil
}

func (a *answer) readMember(d *jsontext.Decoder, name string) error {
	switch name {
	case "statusCode":
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if kind := token.Kind(); kind != '0' && kind != '"' { // "200" is accepted as well
			return errors.New("statusCode is no number")
		}
		if a.status, err = strconv.Atoi(token.String()); err != nil {
			return errors.New("statusCode is no integer")
		}
		return nil
	case "headers":
		return a.readHeaders(d, false)
	case "multiValueHeaders":
		return a.readHeaders(d, true)
	case "body":
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		switch value.Kind() {
		case 'n':
			a.body = a.body[:0]
		case '"':
			a.body, err = jsontext.AppendUnquote(a.body[:0], value)
			if err != nil && len(a.body) == 0 {
				return err
			}
		default:
			return errors.New("body is no string")
		}
		return nil
	case "isBase64Encoded": // without binary media types the body stays as it is
		if token, err := d.ReadToken(); err != nil || token.Kind() != 't' && token.Kind() != 'f' && token.Kind() != 'n' {
			return errors.New("isBase64Encoded is no boolean")
		}
		return nil
	}
	return fmt.Errorf("unknown key %q", name)
}

// readHeaders reads headers or multiValueHeaders: strings, numbers and booleans; null is left out.
func (a *answer) readHeaders(d *jsontext.Decoder, multi bool) error {
	if d.PeekKind() == 'n' {
		return d.SkipValue()
	}
	return readObject(d, func(name string) error {
		name = textproto.CanonicalMIMEHeaderKey(name)
		read := func() error {
			value, ok, err := readScalar(d)
			if err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
			if ok {
				a.headers = append(a.headers, answerHeader{name, value, multi})
			}
			return nil
		}
		if !multi {
			return read()
		}
		if d.PeekKind() != '[' {
			return fmt.Errorf("multi-value header %s is no array", name)
		}
		return readOneOrMore(d, 0, read)
	})
}

// remapped says what becomes of a header that a function sets: its name at the client, empty where it is dropped
// [APIGW/api-gateway-known-issues, the table of headers, Lambda column; Content-Length, X-Amzn-Requestid: seen].
func remapped(name string) string {
	switch name {
	case "Expect", "Host", "Keep-Alive", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via":
		return ""
	case "Authorization", "Connection", "Content-Length", "Content-Md5", "Date", "Max-Forwards", "Server", "User-Agent",
		"Www-Authenticate", "X-Amzn-Requestid":
		return "X-Amzn-Remapped-" + name
	}
	return name
}

// write sends a function's answer.
func (x *exchange) write(a answer) {
	h := x.w.Header()
	values := make([]string, 0, len(a.headers)+1) // never grows: the slices in h share it
	for _, v := range a.headers {
		if !v.multi && a.hasMulti(v.name) {
			continue
		}
		name := remapped(v.name)
		if name == "" {
			continue
		}
		if v.multi {
			h[name] = append(h[name], v.value)
		} else {
			values = append(values, v.value)
			h[name] = values[len(values)-1 : len(values) : len(values)] // of two spellings of one name the later wins
		}
	}
	x.identify(h, "")
	values = append(values, x.trace)
	h["X-Amzn-Trace-Id"] = values[len(values)-1:]
	x.send(a.status, a.body)
}

// hasMulti tells whether multiValueHeaders, which win, have the name.
func (a *answer) hasMulti(name string) bool {
	for _, v := range a.headers {
		if v.multi && v.name == name {
			return true
		}
	}
	return false
}

// identify adds the headers that API Gateway adds to every answer, in its spelling.
func (x *exchange) identify(h http.Header, errorType string) {
	values := []string{x.id, x.extendedID, errorType}
	h["x-amzn-RequestId"] = values[0:1:1]
	h["x-amz-apigw-id"] = values[1:2:2]
	if errorType != "" {
		h["x-amzn-ErrorType"] = values[2:3:3]
	}
}

// send logs the request and writes status and body, as JSON where nothing else is said.
func (x *exchange) send(status int, body []byte) {
	h := x.w.Header()
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = []string{"application/json"}
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	x.status, x.length = status, len(body)
	x.log()
	x.w.WriteHeader(status)
	if len(body) > 0 {
		_, _ = x.w.Write(body) // the client has gone, or the status has no body
	}
}
