package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/dynamo"
)

// server answers DynamoDB's requests as the test says, the first with n 1, and is the endpoint of a client.
type server struct {
	*dynamodb.Client
	calls atomic.Int64
}

type reply struct {
	status int
	body   string
	cut    bool // the connection breaks after the body, which was to be longer
}

func refusal(code string) reply {
	return reply{status: http.StatusBadRequest, body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"m"}`}
}

func newServer(tb testing.TB, answer func(n int, body string) reply) *server {
	tb.Helper()
	s := &server{}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Error(err)
		}
		a := answer(int(s.calls.Add(1)), string(body))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if a.cut {
			w.Header().Set("Content-Length", "1000")
		}
		w.WriteHeader(a.status)
		if _, err := io.WriteString(w, a.body); err != nil {
			tb.Error(err)
		}
	}))
	tb.Cleanup(listener.Close)
	httpClient := dynamo.NewHTTPClient(listener.URL)
	tb.Cleanup(httpClient.CloseIdleConnections)
	client, err := dynamo.NewClient(config(httpClient), listener.URL)
	if err != nil {
		tb.Fatal(err)
	}
	s.Client = client
	return s
}

func config(client *http.Client) aws.Config {
	return aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: client}
}

func deadline(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	tb.Cleanup(cancel)
	return ctx
}

func isUnavailable(err error) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && e.Kind == apierror.Unavailable
}

func TestNewClientRefusesEndpoints(t *testing.T) {
	t.Parallel()
	for endpoint, valid := range map[string]bool{
		"": true, "http://127.0.0.1:8000": true, "https://dynamodb.eu-west-1.amazonaws.com": true, "http://[::1]:8000/": true,
		"127.0.0.1:8000": false, "localhost": false, "localhost:8000": false, "ftp://h": false, "http://": false, "http://h:x": false, "\x00": false,
	} {
		client, err := dynamo.NewClient(config(http.DefaultClient), endpoint)
		if (err == nil) != valid || (client != nil) != valid {
			t.Errorf("%q: error %v, want valid %t", endpoint, err, valid)
		}
		if err != nil && (!strings.Contains(err.Error(), "http://127.0.0.1:8000") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: the error says not what to write: %v", endpoint, err)
		}
	}
}

// TestFaults: what is tried again, what is not, and what the caller hears.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		reply      reply
		again      bool
		condition  bool
		unanswered bool
	}{
		{"throttled", refusal("ProvisionedThroughputExceededException"), true, false, false},
		{"over the rate", refusal("ThrottlingException"), true, false, false},
		{"over the account's rate", refusal("RequestLimitExceeded"), true, false, false},
		{"in conflict with a transaction", refusal("TransactionConflictException"), true, false, false},
		{"transaction in progress", refusal("TransactionInProgressException"), true, false, false},
		{"internal error", reply{status: 500, body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`}, true, false, true},
		{"not DynamoDB", reply{status: 502, body: "<html>"}, true, false, true},
		{"answer cut off", reply{status: 200, body: `{"Item":{`, cut: true}, true, false, true},
		{"answer that is none", reply{status: 200, body: `{"Item":{`}, false, false, true},
		{"failed condition", refusal("ConditionalCheckFailedException"), false, true, false},
		{"no table", refusal("ResourceNotFoundException"), false, false, false},
		{"no right", refusal("AccessDeniedException"), false, false, false},
		{"wrong request", refusal("ValidationException"), false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			passing := newServer(t, func(n int, _ string) reply {
				if n <= 5 { // more often than the SDK's own three attempts
					return tt.reply
				}
				return reply{status: 200, body: `{}`}
			})
			err := dynamo.PutNew(deadline(t, 20*time.Second), passing.Client, "t", "id", dynamo.Item{"id": dynamo.S("x")})
			switch {
			case tt.again:
				if err != nil || passing.calls.Load() != 6 {
					t.Errorf("%v after %d calls", err, passing.calls.Load())
				}
			case passing.calls.Load() != 1 || dynamo.FailedCondition(err) != tt.condition || isUnavailable(err) == tt.condition:
				t.Errorf("%v after %d calls", err, passing.calls.Load())
			}
			ctx, cancel := context.WithCancel(t.Context())
			staying := newClient(t, func(n int) reply {
				if n == 2 { // the time ends with the answer, not before it
					cancel()
				}
				return tt.reply
			})
			err = dynamo.PutNew(ctx, staying, "t", "id", dynamo.Item{"id": dynamo.S("x")})
			cancel()
			if isUnavailable(err) == tt.condition || dynamo.Unanswered(err) != tt.unanswered {
				t.Errorf("unanswered %t, error %v", dynamo.Unanswered(err), err)
			}
		})
	}
}

// TestUnanswered: an attempt that never left is no doubt, one that was given up is.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		round func(*http.Request) (*http.Response, error)
		want  bool
	}{
		{"no answer until the time was over", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, true},
		{"the connection broke", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, true},
		{"no connection", http.DefaultTransport.RoundTrip, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			closed := httptest.NewServer(http.NotFoundHandler())
			closed.Close()
			client, err := dynamo.NewClient(config(&http.Client{Transport: roundTripper(tt.round)}), closed.URL)
			if err != nil {
				t.Fatal(err)
			}
			_, err = dynamo.Get(deadline(t, 50*time.Millisecond), client, "t", dynamo.Item{"id": dynamo.S("x")})
			if !isUnavailable(err) || dynamo.Unanswered(err) != tt.want {
				t.Errorf("unanswered %t, error %v", dynamo.Unanswered(err), err)
			}
		})
	}
	if dynamo.Unanswered(nil) || dynamo.Unanswered(errors.New("another")) {
		t.Error("no error, or another's, is taken for unanswered")
	}
}

// newClient gives a client that is answered without a network.
func newClient(tb testing.TB, answer func(n int) reply) *dynamodb.Client {
	tb.Helper()
	n := 0
	client, err := dynamo.NewClient(config(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		n++
		a := answer(n)
		body := io.Reader(strings.NewReader(a.body))
		if a.cut {
			body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		return &http.Response{
			StatusCode: a.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(body), Request: r,
		}, nil
	})}), "http://127.0.0.1:1")
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPages: every page has a limit and reads consistently, and each begins where the one before ended.
func TestPages(t *testing.T) {
	t.Parallel()
	answer := func(tb testing.TB) func(n int, body string) reply {
		tb.Helper()
		return func(n int, body string) reply {
			for _, part := range []string{`"ConsistentRead":true`, `"Limit":`, `"TableName":"t"`} {
				if !strings.Contains(body, part) {
					tb.Errorf("no %s in %s", part, body)
				}
			}
			if start := fmt.Sprintf(`"ExclusiveStartKey":{"id":{"S":"%d"}}`, n-1); strings.Contains(body, "ExclusiveStartKey") != (n > 1) || n > 1 && !strings.Contains(body, start) {
				tb.Errorf("page %d begins elsewhere: %s", n, body)
			}
			if n == 4 {
				return reply{status: 200, body: `{"Items":[{"id":{"S":"last"}}]}`}
			}
			items := fmt.Sprintf(`{"id":{"S":"%d"}}`, n)
			if n == 2 {
				items = "" // a page may be empty
			}
			return reply{status: 200, body: fmt.Sprintf(`{"Items":[%s],"LastEvaluatedKey":{"id":{"S":"%d"}}}`, items, n)}
		}
	}
	scanned, queried := newServer(t, answer(t)), newServer(t, answer(t))
	for name, items := range map[string]func(func(dynamo.Item, error) bool){
		"Scan":  dynamo.Scan(t.Context(), scanned.Client, "t"),
		"Query": dynamo.Query(t.Context(), queried.Client, "t", "hash", "v"),
	} {
		var got []string
		for item, err := range items {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, item.String("id"))
		}
		if fmt.Sprint(got) != "[1 3 last]" {
			t.Errorf("%s gives %v", name, got)
		}
	}
	early := newServer(t, answer(t))
	for _, err := range dynamo.Scan(t.Context(), early.Client, "t") {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if n := early.calls.Load(); n != 1 {
		t.Errorf("%d pages were read for one item", n)
	}
	failing := newServer(t, func(int, string) reply { return refusal("ResourceNotFoundException") })
	failures := 0
	for item, err := range dynamo.Query(t.Context(), failing.Client, "t", "hash", "v") {
		if failures++; !isUnavailable(err) || item != nil {
			t.Errorf("%v, %v", item, err)
		}
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
}
