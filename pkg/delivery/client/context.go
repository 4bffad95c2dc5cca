package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// maxContext is the maximum size of a body with a context, in bytes.
const maxContext = 100_000

// sessionBytes is the number of bytes of the SHA-256 in a session that is derived.
const sessionBytes = 16

// fields are the values of the fields of a context. None is empty.
type fields map[string]string

// newFields returns the fields of a context, which are beside its properties or among them. An empty text is absent, as
// applications send it for what they do not know. If a field is at both places, the one beside counts if every context
// has the field, and otherwise the property, as in Unleash.
func newFields(beside, properties map[string]string) fields {
	f := fields{}
	for name, value := range beside {
		if value != "" {
			f[name] = value
		}
	}
	for name, value := range properties {
		if value != "" && (f[name] == "" || !toggle.IsFixedField(name)) {
			f[name] = value
		}
	}
	return f
}

// context returns the context of an evaluation. One without a session gets one that is derived from the user and the
// caller's address and agent, so that the result is the same for each request of a caller.
func (h *Handler) context(r *request, f fields) (*evaluation.Context, error) {
	if f[toggle.FieldRemoteAddress] == "" {
		f[toggle.FieldRemoteAddress] = h.proxies.caller(r.Request)
	}
	if f[toggle.FieldSessionID] == "" {
		sum := sha256.Sum256([]byte(h.proxies.caller(r.Request) + "\n" + r.UserAgent() + "\n" + f[toggle.FieldUserID]))
		f[toggle.FieldSessionID] = base64.RawURLEncoding.EncodeToString(sum[:sessionBytes])
	}
	delete(f, toggle.FieldCurrentTime) // dates are compared with the clock of the service
	random, err := h.newRandom()
	if err != nil {
		return nil, err
	}
	return &evaluation.Context{Fields: f, Now: h.now(), Random: random}, nil
}

// newRandom returns a function for one evaluation that returns random numbers from 0 to n-1.
func (h *Handler) newRandom() (func(n uint32) uint32, error) {
	var seed [16]byte
	if _, err := io.ReadFull(h.random, seed[:]); err != nil {
		return nil, fmt.Errorf("read a seed: %w", err)
	}
	source := rand.NewPCG(binary.BigEndian.Uint64(seed[:8]), binary.BigEndian.Uint64(seed[8:]))
	return rand.New(source).Uint32N, nil //nolint:gosec // a rollout needs no secrecy
}

// readObject reads the body of a request, which is a JSON object or empty.
func (r *request) readObject() (map[string]any, error) {
	text, err := readAll(r.Request, maxContext)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if len(bytes.TrimSpace(text)) == 0 {
		return object, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&object)
	_, end := decoder.Token()
	if err != nil || object == nil || !errors.Is(end, io.EOF) {
		return nil, apierror.Invalid(apierror.At("/body", "must be a JSON object"))
	}
	return object, nil
}

// objectOf returns a property of the object at a path, which is an object itself. Null and no property are an empty one.
func objectOf(object map[string]any, path, name string) (map[string]any, error) {
	switch inner := object[name].(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return inner, nil
	default:
		return nil, apierror.Invalid(apierror.At(path+"/"+name, "must be an object").Violating("type", nil))
	}
}

// textsOf returns the values of the object at a path as texts. SDKs join lists with commas, too. Null is absent. Objects
// are ignored, because no constraint can be fulfilled by one.
func textsOf(object map[string]any, path string) (map[string]string, error) {
	texts := make(map[string]string, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		elements, isList := object[name].([]any)
		if !isList {
			elements = []any{object[name]}
		}
		parts := make([]string, len(elements))
		for i, element := range elements {
			part, ok := textOf(element)
			if !ok && isList {
				return nil, apierror.Invalid(apierror.At(jsonbody.Join(path, apierror.Echo(name)),
					"must be a list of strings, numbers and booleans"))
			}
			parts[i] = part
		}
		texts[name] = strings.Join(parts, ",")
	}
	return texts, nil
}

// textOf returns a string, a number or a boolean as a text.
func textOf(value any) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	default:
		return "", false
	}
}

// checkDate checks a text that must be a date-time if it is sent.
func checkDate(name string, object map[string]any) error {
	text, ok := object[name].(string)
	if !ok {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return apierror.Invalid(apierror.At("/body/context/"+name, "must be an RFC 3339 date-time with an offset or Z").
			Violating("format", nil).Sent(text))
	}
	return nil
}
