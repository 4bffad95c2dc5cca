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
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// maxContext is the maximum size of a body with a context, in bytes.
const maxContext = 100_000

// fields are the values of the fields of a context.
type fields map[string]string

// context returns the context of an evaluation. A context with neither userId nor sessionId gets a session that is
// derived from the caller's address and agent, so that the result is the same for each request of a caller.
func (h *Handler) context(r *request, f fields) (*evaluation.Context, error) {
	if _, ok := f[toggle.FieldRemoteAddress]; !ok {
		f[toggle.FieldRemoteAddress] = callerAddress(r.Request)
	}
	_, hasUser := f[toggle.FieldUserID]
	_, hasSession := f[toggle.FieldSessionID]
	if !hasUser && !hasSession {
		sum := sha256.Sum256([]byte(callerAddress(r.Request) + "\n" + r.UserAgent()))
		f[toggle.FieldSessionID] = base64.RawURLEncoding.EncodeToString(sum[:bodyTagBytes])
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

// callerAddress returns the IP address of the caller.
func callerAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
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
		return nil, apierror.New(apierror.Validation, "The body must be a JSON object.")
	}
	return object, nil
}

// contextOf returns the property context of a body. Without one it is empty.
func contextOf(body map[string]any) (map[string]any, error) {
	switch context := body["context"].(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return context, nil
	default:
		return nil, apierror.New(apierror.Validation, "The `/body/context` property must be an object.")
	}
}

// add adds the scalar values of an object. Null values are absent; objects and lists are ignored.
func (f fields) add(object map[string]any) {
	for name, value := range object {
		switch value := value.(type) {
		case string:
			f[name] = value
		case json.Number:
			f[name] = value.String()
		case bool:
			f[name] = strconv.FormatBool(value)
		}
	}
}

// checkDate checks a text that must be a date-time if it is sent.
func checkDate(name string, object map[string]any) error {
	text, ok := object[name].(string)
	if !ok {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return apierror.Errorf(apierror.Validation,
			"The `/body/context/%s` property must be an RFC 3339 date-time with an offset or Z; you sent %q.", name,
			apierror.Echo(text))
	}
	return nil
}
