package database

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// errLost is the error of a call whose response was dropped.
var errLost = errors.New("the connection was closed")

// Tap counts the requests of one client. It is safe for concurrent use.
type Tap struct {
	next    http.RoundTripper
	respond func(*Call) (*http.Response, error)

	mu    sync.Mutex
	order []string
}

// Call is one request to DynamoDB.
type Call struct {
	Operation string // GetItem, TransactWriteItems, ...
	N         int    // number of this call among the calls of its operation, from 1
	Body      string
	Request   *http.Request

	next http.RoundTripper
}

// Through returns a client that sends its calls to the function respond, and the tap that counts them. Concurrent calls
// run respond concurrently. If respond is nil, the engine responds to every call.
func (db *Database) Through(tb testing.TB, respond func(*Call) (*http.Response, error)) (*dynamodb.Client, *Tap) {
	tb.Helper()
	if respond == nil {
		respond = (*Call).Pass
	}
	t := &Tap{next: db.newTransport(tb), respond: respond}
	return newClient(tb, db.Endpoint, t), t
}

// Before returns a client that calls do before the n-th call of an operation.
func (db *Database) Before(tb testing.TB, operation string, n int, do func()) *dynamodb.Client {
	tb.Helper()
	client, _ := db.Through(tb, func(c *Call) (*http.Response, error) {
		if c.Operation == operation && c.N == n {
			do()
		}
		return c.Pass()
	})
	return client
}

// Refusing returns a client whose calls of an operation DynamoDB refuses.
func (db *Database) Refusing(tb testing.TB, operation string) *dynamodb.Client {
	tb.Helper()
	client, _ := db.Through(tb, func(c *Call) (*http.Response, error) {
		if c.Operation == operation {
			return c.Refuse("ValidationException")
		}
		return c.Pass()
	})
	return client
}

// Interrupted returns the context and the client of a process that ends at its n-th transaction, before or after
// DynamoDB carries it out.
func (db *Database) Interrupted(ctx context.Context, tb testing.TB, n int, carriedOut bool) (context.Context,
	*dynamodb.Client) {
	tb.Helper()
	ctx, end := context.WithCancel(ctx)
	tb.Cleanup(end)
	client, _ := db.Through(tb, func(c *Call) (*http.Response, error) {
		if c.Operation != "TransactWriteItems" || c.N < n {
			return c.Pass()
		}
		defer end()
		if carriedOut && c.N == n {
			return c.Lose()
		}
		return nil, errLost
	})
	return ctx, client
}

// InterruptedAtWrite returns the context and the client of a process that ends at its n-th write of any kind, before
// or after DynamoDB carries it out. ended reports whether the process made so many writes.
func (db *Database) InterruptedAtWrite(ctx context.Context, tb testing.TB, n int, carriedOut bool) (
	_ context.Context, _ *dynamodb.Client, ended func() bool,
) {
	tb.Helper()
	ctx, end := context.WithCancel(ctx)
	tb.Cleanup(end)
	var writes atomic.Int64
	client, _ := db.Through(tb, func(c *Call) (*http.Response, error) {
		switch c.Operation {
		case "GetItem", "BatchGetItem", "Query", "Scan":
			return c.Pass()
		}
		write := int(writes.Add(1))
		if write < n {
			return c.Pass()
		}
		defer end()
		if carriedOut && write == n {
			return c.Lose()
		}
		return nil, errLost
	})
	return ctx, client, func() bool { return int(writes.Load()) >= n }
}

// RoundTrip implements http.RoundTripper.
func (t *Tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	t.mu.Lock()
	t.order = append(t.order, operation)
	n := len(slices.DeleteFunc(slices.Clone(t.order), func(o string) bool { return o != operation }))
	t.mu.Unlock()
	return t.respond(&Call{operation, n, string(body), r, t.next})
}

// Calls returns the operations so far, separated by spaces.
func (t *Tap) Calls() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.order, " ")
}

// Pass sends the call to the engine and returns the response.
func (c *Call) Pass() (*http.Response, error) {
	r := c.Request.Clone(c.Request.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(c.Body)), int64(len(c.Body))
	return c.next.RoundTrip(r)
}

// Lose sends the call to the engine and returns an error instead of the response.
func (c *Call) Lose() (*http.Response, error) {
	response, err := c.Pass()
	if err == nil {
		err = response.Body.Close()
	}
	return nil, errors.Join(errLost, err)
}

// Hang returns an error after the context of the request is canceled.
func (c *Call) Hang() (*http.Response, error) {
	<-c.Request.Context().Done()
	return nil, c.Request.Context().Err()
}

// Refuse returns an error of DynamoDB: status 500 for InternalServerError, status 400 for every other code.
func (c *Call) Refuse(code string) (*http.Response, error) {
	status := http.StatusBadRequest
	if code == "InternalServerError" {
		status = http.StatusInternalServerError
	}
	return c.Reply(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"injected"}`)
}

// Cancel returns the error of a canceled transaction, with one reason per action.
func (c *Call) Cancel(reasons ...string) (*http.Response, error) {
	return c.Reply(http.StatusBadRequest,
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"injected",`+
			`"CancellationReasons":[{"Code":"`+strings.Join(reasons, `","Message":"injected"},{"Code":"`)+`","Message":"injected"}]}`)
}

// Reply returns a response with a status and a body.
func (c *Call) Reply(status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: c.Request,
	}, nil
}
