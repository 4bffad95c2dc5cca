package dynamo_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/roundtrip"
)

// failures are failures of the network. They can stand in place of a response.
var failures = map[string]error{
	"broken connection": io.ErrUnexpectedEOF, "refused connection": &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
	"lost connection": &net.OpError{Op: "read", Err: syscall.ECONNRESET},
}

// server responds to one client's attempts, which follow one another.
type server struct {
	*dynamodb.Client
	attempts int
	requests []string
	last     func() // called before the last response
}

// newServer returns a server with a response for each attempt; the last one is for all further ones. A response is a
// status and a body. If it ends with an ellipsis, the connection breaks there. A word is the code of a rejection, and
// several words are the reasons why a transaction is canceled, one for each action.
func newServer(tb testing.TB, responses ...string) *server {
	tb.Helper()
	s := &server{last: func() {}}
	s.Client = newClient(tb, "http://127.0.0.1:1", roundtrip.Func(func(r *http.Request) (*http.Response, error) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.requests = append(s.requests, string(request))
		response := responses[min(s.attempts, len(responses)-1)]
		if s.attempts++; s.attempts == len(responses) {
			s.last()
		}
		if err := failures[response]; err != nil {
			return nil, err
		}
		if !strings.Contains(response, " ") {
			response = `400 {"__type":"com.amazonaws.dynamodb.v20120810#` + response + `","message":"m"}`
		}
		status, text, _ := strings.Cut(response, " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			const reason = `{"Item":{"lastId":{"N":"7"}},"Code":"`
			code, text = http.StatusBadRequest, `{"__type":"a#TransactionCanceledException","CancellationReasons":[`+
				reason+strings.ReplaceAll(response, " ", `"},`+reason)+`"}]}`
		}
		text, cut := strings.CutSuffix(text, "…")
		body := io.Reader(strings.NewReader(text))
		if cut {
			body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body), Request: r}, nil
	}))
	return s
}

func newClient(tb testing.TB, endpoint string, transport http.RoundTripper) *dynamodb.Client {
	tb.Helper()
	client, err := dynamo.NewClient(roundtrip.AWS(transport), endpoint)
	assert.OK(tb, err)
	return client
}

func isUnavailable(err error) bool { return errors.Is(err, dynamo.ErrUnavailable) }

func put(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.PutItem(ctx,
		&dynamodb.PutItemInput{TableName: aws.String("t"), Item: dynamo.Item{"id": dynamo.S("x")}})
	return err
}

func TestNewClientChecksTheEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint := range strings.FieldsSeq("http://127.0.0.1:8000 https://dynamodb.eu-west-1.amazonaws.com " +
		"http://[::1]:8000/") {
		_, err := dynamo.NewClient(aws.Config{}, endpoint)
		assert.OK(t, err)
	}
	for endpoint := range strings.FieldsSeq("127.0.0.1:8000 localhost localhost:8000 ftp://h http:// http://h:x \x00") {
		_, err := dynamo.NewClient(aws.Config{}, endpoint)
		if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:8000") {
			t.Errorf("%q: the error does not say what to write: %v", endpoint, err)
		}
	}
}

// TestErrors checks which errors are repeated, what the caller gets for those that are not, and what it gets if the
// context ends.
func TestErrors(t *testing.T) {
	t.Parallel()
	for response, want := range map[string]outcome{
		"200 {}":                                 {Attempts: 1, Passed: true},
		"ProvisionedThroughputExceededException": {Attempts: 6, Passed: true, Unavailable: true, Throttled: true},
		"ThrottlingException":                    {Attempts: 6, Passed: true, Unavailable: true, Throttled: true},
		"RequestLimitExceeded":                   {Attempts: 6, Passed: true, Unavailable: true, Throttled: true},
		"TransactionConflictException":           {Attempts: 6, Passed: true, Unavailable: true},
		"TransactionInProgressException":         {Attempts: 6, Passed: true, Unavailable: true, Throttled: true},
		`500 {"__type":"a#InternalServerError"}`: {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		"502 <html>":                             {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		`200 {"Item":{…`:                         {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		`200 {"Item":{`:                          {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		"broken connection":                      {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		"refused connection":                     {Attempts: 6, Passed: true, Unavailable: true},
		"lost connection":                        {Attempts: 6, Passed: true, Unavailable: true, Unknown: true},
		"ConditionalCheckFailedException":        {Attempts: 1, FailedCondition: true},
		"ResourceNotFoundException":              {Attempts: 1, Unavailable: true},
		"AccessDeniedException":                  {Attempts: 1, Unavailable: true},
		"ValidationException":                    {Attempts: 1},
		`499 {"__type":"a#Other"}`:               {Attempts: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			// more often than the SDK's own three attempts
			passing := newServer(t, append(slices.Repeat([]string{response}, 5), "200 {}")...)
			passed := put(t.Context(), passing.Client) == nil
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := put(ctx, newServer(t, response).Client)
			assert.Equal(t, want, outcome{
				Attempts:        passing.attempts,
				Passed:          passed,
				Unavailable:     isUnavailable(err),
				Throttled:       dynamo.Throttled(err),
				Unknown:         dynamo.ResultUnknown(err),
				FailedCondition: dynamo.FailedCondition(err),
			})
			once := newServer(t, response)
			_, err = once.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"),
				Key: dynamo.Item{"id": dynamo.S("x")}}, dynamo.Once)
			if once.attempts != 1 || isUnavailable(err) != want.Unavailable {
				t.Errorf("%s, once: %d attempts, error %v", response, once.attempts, err)
			}
		})
	}
}

// outcome is what a call does whose attempts get the same response.
type outcome struct {
	Attempts        int  // if the sixth one succeeds
	Passed          bool // then
	Unavailable     bool
	Throttled       bool
	Unknown         bool // the result
	FailedCondition bool
}

// TestNoResponse checks a call that hangs until the deadline, and one after the deadline.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hanging := newClient(t, "http://127.0.0.1:1", roundtrip.Func(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, unknown := range []bool{true, false} {
			err := put(ctx, hanging)
			assert.ErrorIs(t, err, dynamo.ErrUnavailable)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, unknown, dynamo.ResultUnknown(err))
		}
	})
}

// TestRetryQuota checks that calls to a server that accepts connections and never responds have three attempts of a
// second at first, then one until DynamoDB has responded often enough. The network is in memory, so that the clock is
// the test's.
func TestRetryQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		var hanging atomic.Bool
		hanging.Store(true)
		transport, ok := dynamo.NewHTTPClient("").Transport.(*http.Transport)
		if !ok {
			t.Fatal("no transport of net/http")
		}
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				requests := bufio.NewReader(there)
				for {
					request, err := http.ReadRequest(requests)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					if attempts.Add(1); hanging.Load() {
						continue
					}
					_, _ = io.WriteString(there,
						"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}")
				}
			}()
			return here, nil
		}
		defer transport.CloseIdleConnections()
		client := newClient(t, "http://dynamodb", transport)
		call := func(wantAttempts int64, wantSeconds float64) {
			t.Helper()
			attempts.Store(0)
			started := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
			defer cancel()
			err := put(ctx, client)
			if hanging.Load() && (!isUnavailable(err) || !dynamo.ResultUnknown(err)) || !hanging.Load() && err != nil {
				t.Errorf("error %v", err)
			}
			if took := time.Since(started).Seconds(); attempts.Load() != wantAttempts || took < wantSeconds ||
				took > wantSeconds+0.1 {
				t.Errorf("%d attempts in %.3f s, want %d in %.0f s", attempts.Load(), took, wantAttempts, wantSeconds)
			}
		}
		call(3, 3)
		call(1, 1)
		call(1, 1)
		hanging.Store(false)
		for range 250 {
			call(1, 0)
		}
		hanging.Store(true)
		call(2, 2)
		call(1, 1)
	})
}

// TestThrottledForLong checks that an operator's client outlasts 50 seconds of throttling, as long as its deadline
// permits. That of a function gives up when its retry quota is used up.
func TestThrottledForLong(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(aws.Config, string) (*dynamodb.Client, error){
		"operator": dynamo.NewOperatorClient, "function": dynamo.NewClient,
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			c, err := client(roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
				status, body := http.StatusOK, "{}"
				if time.Since(begun) < 50*time.Second {
					status, body = http.StatusBadRequest, `{"__type":"a#ThrottlingException"}`
				}
				return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r,
					Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}}, nil
			})), "http://127.0.0.1:1")
			assert.OK(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := put(ctx, c); (err == nil) != (name == "operator") {
				t.Errorf("%s, after %s: %v", name, time.Since(begun), err)
			}
		})
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
				assert.OK(t, dynamo.Pause(t.Context(), attempt))
				longest, shortest = max(longest, time.Since(begin)), min(shortest, time.Since(begin))
			}
			limit := 200 * time.Millisecond
			if attempt < 6 {
				limit = 5 * time.Millisecond << (attempt - 1)
			}
			if shortest > limit/4 || longest > limit || longest < limit*3/4 {
				t.Fatalf("between %s and %s before attempt %d, want at most %s", shortest, longest, attempt+1, limit)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := dynamo.Pause(ctx, 30)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, dynamo.ErrUnavailable)
	})
}

// TestPages checks that every page has a limit, reads consistently and starts where the page before ended.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{"", `"ExpressionAttributeNames":{"#0":"hash"},` +
		`"ExpressionAttributeValues":{":0":{"S":"v"}},"KeyConditionExpression":"#0 = :0",`} {
		read := func(c *dynamodb.Client) iter.Seq2[dynamo.Item, error] {
			if condition == "" {
				return dynamo.Scan(t.Context(), c, "t")
			}
			return dynamo.Query(t.Context(), c, "t", "hash", dynamo.S("v"))
		}
		s := newServer(t, `200 {"Items":[{"id":{"S":"a"}},{"id":{"S":"b"}}],"LastEvaluatedKey":{"id":{"S":"b"}}}`,
			`200 {"Items":[],"LastEvaluatedKey":{"id":{"S":"c"}}}`, `200 {"Items":[{"id":{"S":"d"}}]}`)
		ids := ""
		for item, err := range read(s.Client) {
			assert.OK(t, err)
			ids += item.String("id")
		}
		assert.Equal(t, "abd", ids)
		var want []string
		for _, start := range []string{"", `"ExclusiveStartKey":{"id":{"S":"b"}},`,
			`"ExclusiveStartKey":{"id":{"S":"c"}},`} {
			want = append(want, `{"ConsistentRead":true,`+start+condition+`"Limit":5000,"TableName":"t"}`)
		}
		assert.Equal(t, want, s.requests)
		s.attempts = 0
		for _, err := range read(s.Client) {
			assert.OK(t, err)
			break
		}
		assert.Equal(t, 1, s.attempts)
		var errs []error
		for item, err := range read(newServer(t, "ResourceNotFoundException").Client) {
			assert.Equal(t, dynamo.Item(nil), item)
			errs = append(errs, err)
		}
		if len(errs) != 1 || !isUnavailable(errs[0]) {
			t.Error(errs)
		}
	}
}

// TestGetAll checks that keys that were not read are read again.
func TestGetAll(t *testing.T) {
	t.Parallel()
	s := newServer(t,
		`200 {"Responses":{"t":[{"id":{"S":"a"}}]},"UnprocessedKeys":{"t":{"Keys":[{"id":{"S":"x"}},{"id":{"S":"y"}}]}}}`,
		`200 {"Responses":{"t":[{"id":{"S":"b"}}]},"UnprocessedKeys":{}}`)
	keys := slices.Repeat([]dynamo.Item{{"id": dynamo.S("k")}}, 105)
	items, err := dynamo.GetAll(t.Context(), s.Client, "t", keys)
	assert.OK(t, err)
	assert.Equal(t, []int{100, 7, 2},
		[]int{strings.Count(s.requests[0], `"id"`), strings.Count(s.requests[1], `"id"`), len(items)})
	_, err = dynamo.GetAll(t.Context(), newServer(t, "ResourceNotFoundException").Client, "t", keys)
	assert.ErrorIs(t, err, dynamo.ErrUnavailable)
}
