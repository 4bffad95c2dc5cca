package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/apierror"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 100

// place names a member: /body/ and its JSON pointer. The names in that are the caller's, so they are cut and redacted like any value.
func place(pointer jsontext.Pointer) string {
	return "/body/" + apierror.Echo(strings.TrimPrefix(string(pointer), "/"))
}

func invalid(format string, args ...any) *apierror.Error {
	return apierror.New(apierror.Validation, fmt.Sprintf(format, args...))
}

// parse reads exactly one JSON value: string, bool, nil, json.Number (as it was sent), []any or map[string]any.
func parse(body []byte) (any, *apierror.Error) {
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return nil, invalid("The `/body` must be JSON without a byte-order mark.")
	}
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return nil, invalid("The `/body` must be a JSON object; it was empty.")
	}
	p := parser{jsontext.NewDecoder(bytes.NewReader(body))}
	value, err := p.value()
	if err == nil {
		if _, err = p.decoder.ReadToken(); errors.Is(err, io.EOF) {
			return value, nil
		}
		return nil, invalid("The `/body` must be one JSON value; there is more behind it.")
	}
	return nil, syntaxError(err)
}

var errDepth = errors.New("nested too deep")

func syntaxError(err error) *apierror.Error {
	if errors.Is(err, errDepth) {
		return invalid("The `/body` must not nest deeper than %d levels.", maxDepth)
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return invalid("The `%s` property must be there once; you sent it twice.", place(syntactic.JSONPointer))
		}
		return invalid("The `/body` must be valid JSON; it is broken at byte %d.", syntactic.ByteOffset)
	}
	return invalid("The `/body` must be valid JSON; it ends too early.")
}

type parser struct{ decoder *jsontext.Decoder }

func (p *parser) value() (any, error) {
	token, err := p.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil //nolint:nilnil // JSON's null
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	}
	if p.decoder.StackDepth() > maxDepth {
		return nil, errDepth
	}
	if token.Kind() == '[' {
		return p.array()
	}
	return p.object()
}

func (p *parser) array() (any, error) {
	list := []any{}
	for p.decoder.PeekKind() != ']' {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := p.decoder.ReadToken()
	return list, err
}

func (p *parser) object() (any, error) {
	object := map[string]any{}
	for p.decoder.PeekKind() != '}' {
		name, err := p.decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if object[key], err = p.value(); err != nil {
			return nil, err
		}
	}
	_, err := p.decoder.ReadToken()
	return object, err
}
