package gateway

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
)

// Limits of API Gateway and Lambda, in bytes [APIGW limits, LAMBDA limits].
const (
	maxPayload   = 10 * 1024 * 1024 // a request's body
	maxEvent     = 6 * 1024 * 1024  // a function's event: 6,291,456
	maxResponse  = 6 * 1024 * 1024  // a function's answer
	maxHeaders   = 10240            // names and values of a request's headers
	maxMethodARN = 1600
	maxPolicyARN = 512 // a resource of an authorizer's policy
	maxLogLine   = 1024

	// drained is how much of a refused body is read, so that a client which sends it to the end sees the answer.
	drained = 2 * maxPayload
	// trusted is how much memory a Content-Length gets before its bytes are there.
	trusted = 64 * 1024
)

// headerSize adds up names and values.
func headerSize(r *http.Request) int {
	n := len("Host") + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

// readBody reads the request's body into the exchange's buffer; nil where there is none.
func (x *exchange) readBody() ([]byte, *refusal) {
	length := x.r.ContentLength
	switch {
	case length == 0 || x.r.Body == nil || x.r.Body == http.NoBody:
		return nil, nil
	case length > maxPayload:
		return nil, x.refuseBody(length)
	}
	b := x.buffers.body[:0]
	if int64(cap(b)) <= length && length <= trusted {
		b = make([]byte, 0, length+1) // one more: ReadFrom sees the end without growing
	}
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := x.r.Body.Read(b[len(b):min(cap(b), maxPayload+1)])
		b = b[:len(b)+n]
		if len(b) > maxPayload {
			x.buffers.body = nil
			return nil, x.refuseBody(-1)
		}
		if errors.Is(err, io.EOF) {
			x.buffers.body = b
			return b, nil
		}
		if err != nil {
			x.w.Header()["Connection"] = []string{"close"}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, refuseOwn(http.StatusRequestTimeout, "RequestTimeoutException", "Request Timeout")
			}
			return nil, refuseOwn(http.StatusBadRequest, "BadRequestException", "Bad Request")
		}
	}
}

// refuseBody refuses a body above the limit and reads on for a while: a client that sends first and reads then gets its answer
// instead of a broken connection. One that waits for "100 Continue", or announces far too much, is answered at once.
func (x *exchange) refuseBody(length int64) *refusal {
	if x.r.Header.Get("Expect") == "" && length <= drained {
		_, _ = io.CopyN(io.Discard, x.r.Body, drained)
	}
	x.w.Header()["Connection"] = []string{"close"}
	refused := refuseAs(requestTooLarge, nil)
	refused.text = "HTTP content length exceeded " + strconv.Itoa(maxPayload) + " bytes."
	return refused
}
