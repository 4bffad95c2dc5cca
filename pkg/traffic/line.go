package traffic

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Paths are the resource paths that are counted.
type Paths map[string]string // each to itself, so that all requests of a path share its text

// ParsePaths reads resource paths with white space between them.
func ParsePaths(text string) (Paths, error) {
	paths := Paths{}
	for path := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("%q is no resource path: it does not begin with a slash", path)
		}
		paths[path] = path
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("there is no resource path in %q", text)
	}
	return paths, nil
}

// lines reads lines of the access log: JSON objects whose members are quoted, as template.yaml has them. It is one goroutine's.
type lines struct {
	paths   Paths
	text    bytes.Buffer
	decoder *jsontext.Decoder
}

func newLines(paths Paths) *lines {
	l := &lines{paths: paths}
	l.decoder = jsontext.NewDecoder(&l.text)
	return l
}

// lastMillisecond is the last that a report can name: of the year 9999.
const lastMillisecond = 253_402_300_799_999

// read reads the line in l.text. path is empty where the request's path is not counted; ours is false where it is no line of our access log.
func (l *lines) read() (path string, day time.Time, group Group, ours bool) {
	l.decoder.Reset(&l.text)
	var found [3]bool
	if token, err := l.decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return "", time.Time{}, 0, false
	}
	for l.decoder.PeekKind() != '}' {
		name, err := l.decoder.ReadToken()
		if err != nil {
			return "", time.Time{}, 0, false
		}
		member := name.String() // before the next value is read
		value, err := l.decoder.ReadValue()
		if err != nil {
			return "", time.Time{}, 0, false
		}
		switch member {
		case "resourcePath":
			path, found[0] = l.resource(value)
		case "requestTimeEpoch":
			day, found[1] = dayOf(value)
		case "status":
			group, found[2] = groupOf(value)
		}
	}
	if _, err := l.decoder.ReadToken(); err != nil {
		return "", time.Time{}, 0, false
	}
	if _, err := l.decoder.ReadToken(); err != io.EOF { //nolint:errorlint // the decoder gives the value itself
		return "", time.Time{}, 0, false
	}
	return path, day, group, found == [3]bool{true, true, true}
}

func (l *lines) resource(value jsontext.Value) (path string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	text := value[1 : len(value)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		unquoted, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return "", false
		}
		text = unquoted
	}
	return l.paths[string(text)], true
}

// number reads a whole number, quoted or not, of at most 15 digits.
func number(value jsontext.Value) (n int64, ok bool) {
	text := bytes.Trim(value, `"`)
	if len(text) == 0 || len(text) > 15 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

// dayOf gives midnight UTC of a time in milliseconds since 1970.
func dayOf(value jsontext.Value) (time.Time, bool) {
	n, ok := number(value)
	if !ok || n == 0 || n > lastMillisecond {
		return time.Time{}, false
	}
	const day = 24 * time.Hour
	return time.UnixMilli(n - n%day.Milliseconds()).UTC(), true
}

func groupOf(value jsontext.Value) (Group, bool) {
	status, ok := number(value)
	switch {
	case !ok || status < 200 || status > 599:
		return 0, false
	case status < 400:
		return Successful, true
	case status < 500:
		return ClientError, true
	}
	return ServerError, true
}
