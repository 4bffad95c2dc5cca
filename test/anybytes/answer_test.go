package anybytes_test

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
	"strings"
	"testing"
	"time"
)

// patience is far above what a conversation takes: the server ends each by itself once it has all bytes.
const patience = 20 * time.Second

// answer is one answer of a conversation, read to its end.
type answer struct {
	*http.Response
	body []byte
}

// dial opens a connection on which nothing may take longer than the patience.
func dial(tb testing.TB, base string, patience time.Duration) *net.TCPConn {
	tb.Helper()
	var d net.Dialer
	conn, err := d.DialContext(context.WithoutCancel(tb.Context()), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		tb.Fatalf("a connection of type %T", conn)
	}
	return tcp
}

// converse sends the bytes and gives the final answers, judged.
func converse(tb testing.TB, base string, sent []byte) []answer {
	tb.Helper()
	conn := dial(tb, base, patience)
	go func() { // at the same time: a server that answers early may read no further
		_, _ = conn.Write(sent)
		_ = conn.CloseWrite()
	}()
	received, err := io.ReadAll(conn)
	_ = conn.Close()
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		tb.Fatalf("%.200q: neither answered nor closed", sent)
	}
	if err != nil {
		tb.Logf("closed by %v", err)
	}
	answers := split(tb, received, sent) // an error is a connection that was reset: closed, too
	for _, a := range answers {
		if err := a.judge(); err != nil {
			tb.Errorf("%.200q: %v", sent, err)
		}
	}
	return answers
}

// split reads answers one after the other. What was sent tells which of them belong to HEAD and have no body.
func split(tb testing.TB, received, sent []byte) []answer {
	tb.Helper()
	var answers []answer
	requests, rest := bufio.NewReader(bytes.NewReader(sent)), bufio.NewReader(bytes.NewReader(received))
	for {
		if _, err := rest.Peek(1); err != nil {
			return answers
		}
		request, err := http.ReadRequest(requests)
		if err == nil {
			_, err = io.Copy(io.Discard, request.Body)
		}
		if err != nil {
			requests.Reset(bytes.NewReader(nil)) // the server understands no more of it than we do
		}
		for {
			response, err := http.ReadResponse(rest, request) //nolint:bodyclose // it is read to its end, out of memory
			if err != nil {
				tb.Fatalf("%.200q: the answer is no HTTP: %v in %.300q", sent, err, received)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				tb.Fatalf("%.200q: the answer's body: %v in %.300q", sent, err, received)
			}
			if response.StatusCode == http.StatusContinue {
				continue
			}
			answers = append(answers, answer{response, body})
			break
		}
	}
}

// judge says what is wrong with an answer.
func (a answer) judge() error {
	wrong := func(why string) error { return fmt.Errorf("%s: %d %v %.300q", why, a.StatusCode, a.Header, a.body) }
	switch {
	case a.StatusCode >= http.StatusInternalServerError:
		return wrong("a fault")
	case a.Header.Get("X-Amzn-Requestid") == "":
		return a.judgeServers(wrong)
	case a.Request != nil && a.Request.Method == http.MethodHead:
		if len(a.body) > 0 {
			return wrong("HEAD has a body")
		}
		return nil
	case a.StatusCode < http.StatusBadRequest:
		if len(a.body) > 0 && !json.Valid(a.body) {
			return wrong("no JSON")
		}
		return nil
	}
	return a.judgeError(wrong)
}

// judgeServers judges an answer to bytes that are no request: net/http's own. It ends the connection.
func (a answer) judgeServers(wrong func(string) error) error {
	switch a.StatusCode {
	case http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge:
		if !a.Close {
			return wrong("the connection stays open")
		}
		return nil
	}
	return wrong("an answer of nobody's")
}

// judgeError judges the gateway's and the functions' refusals: the error object, or one of the few answers that AWS words itself.
func (a answer) judgeError(wrong func(string) error) error {
	names := map[int]string{
		400: "ValidationError", 401: "AuthenticationRequired", 403: "NoAccessError", 404: "NotFoundError", 409: "NameExistsError",
		413: "ContentTooLarge", 414: "ValidationError", 415: "ContentTypeerror",
	}
	if string(a.body) == "HTTP content length exceeded 10485760 bytes." && a.StatusCode == http.StatusRequestEntityTooLarge {
		return nil
	}
	var object map[string]string
	if err := json.Unmarshal(a.body, &object); err != nil || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		return wrong("neither error object nor message")
	}
	if len(object) == 1 && object["message"] != "" {
		switch a.StatusCode {
		case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusRequestHeaderFieldsTooLarge:
			return nil
		}
		return wrong("not the error object")
	}
	if len(object) != 3 || object["id"] == "" || object["message"] == "" || object["name"] != names[a.StatusCode] {
		return wrong("not the error object")
	}
	for _, header := range []string{"Cache-Control", "X-Content-Type-Options", "X-Request-Id"} {
		if a.Header.Get(header) == "" {
			return wrong("no " + header)
		}
	}
	return nil
}
