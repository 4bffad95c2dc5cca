package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply is a response of DynamoDB, or a failure of the network.
type reply struct {
	status int
	body   string
	cut    bool // the connection breaks after the body
	err    error
}

func refusal(code string) reply {
	return reply{status: http.StatusBadRequest, body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"m"}`}
}

var written = reply{status: http.StatusOK, body: `{}`}

// server responds to one client's attempts, which follow one another.
type server struct {
	*dynamodb.Client
	attempts int
}

// newServer returns a server that respond decides for; the first attempt has n 1.
func newServer(tb testing.TB, respond func(n int, body string) reply) *server {
	tb.Helper()
	s := &server{}
	s.Client = newClient(tb, "http://127.0.0.1:1", roundTripper(func(r *http.Request) (*http.Response, error) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.attempts++
		answer := respond(s.attempts, string(request))
		if answer.err != nil {
			return nil, answer.err
		}
		body := io.Reader(strings.NewReader(answer.body))
		if answer.cut {
			body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
		return &http.Response{StatusCode: answer.status, Header: header, Body: io.NopCloser(body), Request: r}, nil
	}))
	return s
}

func newClient(tb testing.TB, endpoint string, transport http.RoundTripper) *dynamodb.Client {
	tb.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: &http.Client{Transport: transport},
	}, endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

func isUnavailable(err error) bool { return errors.Is(err, dynamo.ErrUnavailable) }

func put(ctx context.Context, client *dynamodb.Client) error {
	return dynamo.PutNew(ctx, client, "t", "id", dynamo.Item{"id": dynamo.S("x")})
}

func TestNewClientChecksTheEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint, valid := range map[string]bool{
		"": true, "http://127.0.0.1:8000": true, "https://dynamodb.eu-west-1.amazonaws.com": true, "http://[::1]:8000/": true,
		"127.0.0.1:8000": false, "localhost": false, "localhost:8000": false, "ftp://h": false, "http://": false, "http://h:x": false, "\x00": false,
	} {
		client, err := dynamo.NewClient(aws.Config{}, endpoint)
		if (err == nil) != valid || (client != nil) != valid {
			t.Errorf("%q: error %v, want valid %t", endpoint, err, valid)
		}
		if err != nil && !strings.Contains(err.Error(), "http://127.0.0.1:8000") {
			t.Errorf("%q: the error does not say what to write: %v", endpoint, err)
		}
	}
}

// TestErrors checks which errors are repeated, what the caller gets for those that are not, and what it gets if the context ends.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		reply      reply
		repeated   bool
		unanswered bool
		throttled  bool
	}{
		{name: "throttled", reply: refusal("ProvisionedThroughputExceededException"), repeated: true, throttled: true},
		{name: "over the rate", reply: refusal("ThrottlingException"), repeated: true, throttled: true},
		{name: "over the account's rate", reply: refusal("RequestLimitExceeded"), repeated: true, throttled: true},
		{name: "conflict with a transaction", reply: refusal("TransactionConflictException"), repeated: true},
		{name: "transaction in progress", reply: refusal("TransactionInProgressException"), repeated: true, throttled: true},
		{name: "internal error", reply: reply{status: 500, body: `{"__type":"a#InternalServerError"}`}, repeated: true, unanswered: true},
		{name: "not DynamoDB", reply: reply{status: 502, body: "<html>"}, repeated: true, unanswered: true},
		{name: "response cut off", reply: reply{status: 200, body: `{"Item":{`, cut: true}, repeated: true, unanswered: true},
		{name: "response that is not JSON", reply: reply{status: 200, body: `{"Item":{`}, repeated: true, unanswered: true},
		{name: "broken connection", reply: reply{err: io.ErrUnexpectedEOF}, repeated: true, unanswered: true},
		{name: "failed condition", reply: refusal("ConditionalCheckFailedException")},
		{name: "missing table", reply: refusal("ResourceNotFoundException")},
		{name: "missing permission", reply: refusal("AccessDeniedException")},
		{name: "invalid request", reply: refusal("ValidationException")},
		{name: "unknown status", reply: reply{status: 499, body: `{"__type":"a#Other"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				passing := newServer(t, func(n int, _ string) reply {
					if n <= 5 { // more often than the SDK's own three attempts
						return tt.reply
					}
					return written
				})
				err := put(t.Context(), passing.Client)
				if tt.repeated && (err != nil || passing.attempts != 6) || !tt.repeated && (err == nil || passing.attempts != 1) {
					t.Errorf("%v after %d attempts, want repeated %t", err, passing.attempts, tt.repeated)
				}
				ctx, cancel := context.WithCancel(t.Context())
				staying := newServer(t, func(n int, _ string) reply {
					if n == 2 {
						cancel()
					}
					return tt.reply
				})
				err = put(ctx, staying.Client)
				cancel()
				if isUnavailable(err) != tt.repeated || dynamo.Unanswered(err) != tt.unanswered || dynamo.Throttled(err) != tt.throttled {
					t.Errorf("unavailable %t, unanswered %t, throttled %t: %v", isUnavailable(err), dynamo.Unanswered(err), dynamo.Throttled(err), err)
				}
				if dynamo.FailedCondition(err) != strings.Contains(tt.reply.body, "ConditionalCheckFailed") {
					t.Errorf("failed condition %t: %v", dynamo.FailedCondition(err), err)
				}
				once := newServer(t, func(int, string) reply { return tt.reply })
				_, err = once.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: dynamo.Item{"id": dynamo.S("x")}}, dynamo.Once)
				if once.attempts != 1 || isUnavailable(err) != tt.repeated {
					t.Errorf("once: %d attempts, error %v", once.attempts, err)
				}
			})
		})
	}
	if isUnavailable(nil) || dynamo.Unanswered(nil) || dynamo.Throttled(nil) || dynamo.FailedCondition(nil) {
		t.Error("no error is reported as one")
	}
}

// TestDeadline checks calls without any response.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hanging := newClient(t, "http://127.0.0.1:1", roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for name, wantUnanswered := range map[string]bool{"the deadline passes": true, "the deadline has passed": false} {
			if wantUnanswered != (ctx.Err() == nil) {
				continue
			}
			err := put(ctx, hanging)
			if !isUnavailable(err) || !errors.Is(err, context.DeadlineExceeded) || dynamo.Unanswered(err) != wantUnanswered {
				t.Errorf("%s: unanswered %t, error %v", name, dynamo.Unanswered(err), err)
			}
		}
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := put(ctx, newClient(t, closed.URL, http.DefaultTransport))
	if !isUnavailable(err) || dynamo.Unanswered(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("refused connection: unanswered %t, error %v", dynamo.Unanswered(err), err)
	}
}

// TestPause checks that the delays double, have a limit, and are random.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for attempt := 1; attempt < 100; attempt++ {
			longest, shortest := time.Duration(0), time.Hour
			for range 200 {
				begin := time.Now()
				if err := dynamo.Pause(t.Context(), attempt); err != nil {
					t.Fatal(err)
				}
				longest, shortest = max(longest, time.Since(begin)), min(shortest, time.Since(begin))
			}
			limit := 200 * time.Millisecond
			if attempt < 6 {
				limit = 5 * time.Millisecond << (attempt - 1)
			}
			if shortest <= 0 || shortest > limit/4 || longest > limit+1 || longest < limit*3/4 {
				t.Fatalf("between %s and %s before attempt %d, want at most %s", shortest, longest, attempt+1, limit)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := dynamo.Pause(ctx, 30); !errors.Is(err, context.Canceled) || !isUnavailable(err) {
			t.Errorf("error %v after the context ended", err)
		}
	})
}

// TestPages checks that every page has a limit, reads consistently and starts where the page before ended.
func TestPages(t *testing.T) {
	t.Parallel()
	respond := func(n int, body string) reply {
		for _, part := range []string{`"ConsistentRead":true`, `"Limit":5000`, `"TableName":"t"`} {
			if !strings.Contains(body, part) {
				t.Errorf("no %s in %s", part, body)
			}
		}
		start := fmt.Sprintf(`"ExclusiveStartKey":{"id":{"S":"%d"}}`, n-1)
		if strings.Contains(body, "ExclusiveStartKey") != (n > 1) || n > 1 && !strings.Contains(body, start) {
			t.Errorf("page %d starts elsewhere: %s", n, body)
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
	for name, items := range map[string]func(func(dynamo.Item, error) bool){
		"Scan":  dynamo.Scan(t.Context(), newServer(t, respond).Client, "t"),
		"Query": dynamo.Query(t.Context(), newServer(t, respond).Client, "t", "hash", "v"),
	} {
		var got []string
		for item, err := range items {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, item.String("id"))
		}
		if fmt.Sprint(got) != "[1 3 last]" {
			t.Errorf("%s returns %v", name, got)
		}
	}
	early := newServer(t, respond)
	for _, err := range dynamo.Scan(t.Context(), early.Client, "t") {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if early.attempts != 1 {
		t.Errorf("%d pages were read for one item", early.attempts)
	}
	failing := newServer(t, func(int, string) reply { return refusal("ResourceNotFoundException") })
	for _, items := range []func(func(dynamo.Item, error) bool){
		dynamo.Scan(t.Context(), failing.Client, "t"), dynamo.Query(t.Context(), failing.Client, "t", "hash", "v"),
	} {
		errs := 0
		for item, err := range items {
			if errs++; err == nil || item != nil {
				t.Errorf("%v, %v", item, err)
			}
		}
		if errs != 1 {
			t.Errorf("%d errors", errs)
		}
	}
}
