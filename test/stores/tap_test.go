package stores_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// tap stands between a client and the engine. It counts every request, and answers as the test wants.
type tap struct {
	next   http.RoundTripper
	answer func(*call) (*http.Response, error) // called by many goroutines; nil: the engine answers

	mu    sync.Mutex
	count map[string]int
	order []string
}

// call is one request.
type call struct {
	operation string // GetItem, TransactWriteItems, …
	n         int    // the first of its operation is 1
	body      string
	request   *http.Request
	next      http.RoundTripper
}

var errLost = errors.New("the connection broke")

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	t.mu.Lock()
	if t.count == nil {
		t.count = map[string]int{}
	}
	t.count[operation]++
	t.order = append(t.order, operation)
	c := &call{operation: operation, n: t.count[operation], body: string(body), request: r, next: t.next}
	t.mu.Unlock()
	if t.answer == nil {
		return c.pass()
	}
	return t.answer(c)
}

// calls gives the operations so far.
func (t *tap) calls() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.order, " ")
}

// pass lets the engine answer.
func (c *call) pass() (*http.Response, error) {
	r := c.request.Clone(c.request.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(c.body)), int64(len(c.body))
	return c.next.RoundTrip(r)
}

// lose lets the engine work and drops its answer.
func (c *call) lose() (*http.Response, error) {
	answer, err := c.pass()
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return nil, errors.Join(errLost, err, answer.Body.Close())
}

// cut lets the engine work and breaks its answer in the middle.
func (c *call) cut() (*http.Response, error) {
	answer, err := c.pass()
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(io.MultiReader(strings.NewReader(string(body[:len(body)/2])), broken{}))
	return answer, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// hang answers when the caller has given up.
func (c *call) hang() (*http.Response, error) {
	<-c.request.Context().Done()
	return nil, c.request.Context().Err()
}

// refuse answers with an error of DynamoDB's.
func (c *call) refuse(code string) (*http.Response, error) {
	status := http.StatusBadRequest
	if code == "InternalServerError" {
		status = http.StatusInternalServerError
	}
	return c.reply(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"injected"}`)
}

// cancel refuses a transaction with a reason for each of its actions.
func (c *call) cancel(reasons ...string) (*http.Response, error) {
	list := make([]string, len(reasons))
	for i, reason := range reasons {
		list[i] = `{"Code":"` + reason + `","Message":"injected"}`
	}
	return c.reply(http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"injected",`+
		`"CancellationReasons":[`+strings.Join(list, ",")+`]}`)
}

func (c *call) reply(status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: c.request,
	}, nil
}
