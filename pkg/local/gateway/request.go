package gateway

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxDrained is the number of bytes that the gateway reads of a body that is too large. A client that sends the whole
// body before it reads then receives the response instead of a connection reset.
const maxDrained = 2 * maxPayload

// validHost matches a name or an IP address, with or without a port. Functions make URLs from the host.
var validHost = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\])(:[0-9]*)?$`)

// request is a request and the state of its processing.
type request struct {
	gateway *Gateway
	http    *http.Request
	start   time.Time // UTC

	id, extendedID, traceID string
	method                  string // after X-HTTP-Method-Override
	host, path, query       string // as sent
	sourceIP                string

	resource  *resource // nil if no route matched
	route     *route
	params    map[string]string // raw values
	principal string            // empty if the authorizer returned no policy

	status    int
	latency   time.Duration
	errorType string // type of the gateway response
}

func (g *Gateway) newRequest(httpRequest *http.Request) *request {
	r := &request{gateway: g, http: httpRequest, start: g.config.Now().UTC()}
	unique, _ := uuid.Parse(g.config.NewID())
	r.extendedID = base64.URLEncoding.EncodeToString(unique[5:])
	if r.traceID = httpRequest.Header.Get("X-Amzn-Trace-Id"); !strings.Contains(r.traceID, "Root=") {
		r.traceID = fmt.Sprintf("Root=1-%x-%s", r.start.Unix(), hex.EncodeToString(unique[4:]))
	}
	if r.id = httpRequest.Header.Get("X-Amzn-RequestId"); len(r.id) != 36 || uuid.Validate(r.id) != nil {
		r.id = g.config.NewID()
	}
	r.method = cmp.Or(httpRequest.Header.Get("X-HTTP-Method-Override"), httpRequest.Method)
	r.path, r.query, _ = strings.Cut(httpRequest.RequestURI, "?")
	if url := httpRequest.URL; url.Scheme != "" && url.Host != "" { // absolute form: GET http://host/path
		r.path, r.query = cmp.Or(url.EscapedPath(), "/"), url.RawQuery
	}
	r.host = httpRequest.Host
	r.sourceIP, _, _ = net.SplitHostPort(httpRequest.RemoteAddr)
	return r
}

// validate checks what API Gateway checks before it looks for a route.
func (r *request) validate() *gatewayError {
	if !strings.HasPrefix(r.path, "/") || !validHost.MatchString(r.host) {
		return errBadRequest
	}
	if accept := r.gateway.config.AcceptHost; accept != nil && !accept(r.host) {
		return errOtherHost
	}
	size := len("Host") + len(r.host)
	for name, values := range r.http.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxHeaders {
		return errHeadersTooLarge
	}
	return nil
}

func (r *request) readBody() (string, *gatewayError) {
	tooLarge := r.http.ContentLength > maxPayload
	var body []byte
	if !tooLarge {
		var err error
		body, err = io.ReadAll(io.LimitReader(r.http.Body, maxPayload+1))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return "", errRequestTimeout
		case err != nil:
			return "", errBadRequest
		}
		tooLarge = len(body) > maxPayload
	}
	if tooLarge {
		if r.http.Header.Get("Expect") == "" && r.http.ContentLength <= maxDrained {
			_, _ = io.CopyN(io.Discard, r.http.Body, maxDrained)
		}
		return "", errPayloadTooLarge
	}
	return r.decompress(body)
}
