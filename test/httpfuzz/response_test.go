package httpfuzz_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/test/assert"
)

// timeout is far above the duration of an exchange: the server closes each connection after it has received everything.
const timeout = time.Minute

// response is a response with its whole body.
type response struct {
	*http.Response
	body []byte
}

// send writes the bytes to a new connection and returns the final responses. It fails the test if one of them violates
// the contract.
func send(tb testing.TB, base string, sent []byte) []response {
	tb.Helper()
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(tb.Context()), "tcp",
		strings.TrimPrefix(base, "http://"))
	assert.OK(tb, err)
	defer conn.Close()
	assert.OK(tb, conn.SetDeadline(time.Now().Add(timeout)))
	go func() { // concurrently: a server that responds early may not read the rest
		_, _ = conn.Write(sent)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	received, err := io.ReadAll(conn) // a reset connection is closed, too
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		tb.Fatalf("%.200q: neither a response nor a closed connection", sent)
	}
	responses, err := parse(received, sent)
	if err != nil {
		tb.Fatalf("%.200q: %v in %.300q", sent, err, received)
	}
	for _, r := range responses {
		if violation := r.violation(); violation != "" {
			tb.Errorf("%.200q: %s: %d %v %.300q", sent, violation, r.StatusCode, r.Header, r.body)
		}
	}
	return responses
}

// parse reads one response after the other. The sent bytes tell which of them belong to HEAD requests and have no body.
func parse(received, sent []byte) ([]response, error) {
	var responses []response
	requests, rest := bufio.NewReader(bytes.NewReader(sent)), bufio.NewReader(bytes.NewReader(received))
	for {
		if _, err := rest.Peek(1); errors.Is(err, io.EOF) {
			return responses, nil
		}
		request, err := http.ReadRequest(requests)
		if err == nil {
			_, err = io.Copy(io.Discard, request.Body)
		}
		if err != nil {
			requests.Reset(bytes.NewReader(nil)) // the server cannot parse more than this package can
		}
		status := http.StatusContinue
		for status == http.StatusContinue {
			r, err := http.ReadResponse(rest, request) //nolint:bodyclose // it is read to its end, from memory
			if err != nil {
				return nil, fmt.Errorf("parse the response: %w", err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, fmt.Errorf("read the body: %w", err)
			}
			if status = r.StatusCode; status != http.StatusContinue {
				responses = append(responses, response{r, body})
			}
		}
	}
}

// violation returns what is wrong with a response; empty if nothing is.
func (r response) violation() string {
	switch {
	case r.Header.Get("X-Amzn-Requestid") == "": // net/http rejected what is not a request
		rejected := []int{
			http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge,
			http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, // an unknown transfer coding, an unknown HTTP version
		}
		if !slices.Contains(rejected, r.StatusCode) || !r.Close {
			return "not a response of the gateway, and the connection stays open"
		}
		return ""
	case r.StatusCode >= http.StatusInternalServerError:
		return "server error"
	case r.Request != nil && r.Request.Method == http.MethodHead:
		if len(r.body) > 0 {
			return "a response to HEAD has a body"
		}
		return ""
	case r.StatusCode < http.StatusBadRequest:
		if len(r.body) > 0 && !json.Valid(r.body) {
			return "the body is not JSON"
		}
		return ""
	case r.StatusCode == http.StatusRequestEntityTooLarge && r.Header.Get("Content-Type") == "text/plain":
		return "" // API Gateway's own 413
	}
	var object map[string]string
	if err := json.Unmarshal(r.body, &object); err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"),
		"application/json") {
		return "neither the error object nor a message"
	}
	own := []int{http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusRequestHeaderFieldsTooLarge}
	if len(object) == 1 && object["message"] != "" && slices.Contains(own, r.StatusCode) {
		return "" // API Gateway's own text
	}
	if len(object) != 3 || object["id"] == "" || object["name"] == "" || object["message"] == "" ||
		r.Header.Get("X-Request-Id") == "" {
		return "not the error object"
	}
	return ""
}
