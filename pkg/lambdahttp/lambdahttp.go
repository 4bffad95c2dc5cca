package lambdahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"toggleadmin/pkg/apierror"
)

// HandlerFunc serves one operation. It returns an error instead of writing one; what it wrote before is then discarded. It must be safe
// for concurrent use.
type HandlerFunc func(http.ResponseWriter, *http.Request) error

// Options are what New takes from outside.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	NewID  func() string // ids of errors: UUIDs
}

// deadlineMargin is what is left of an invocation's time to answer 503 after the last attempt below was given up.
const deadlineMargin = 500 * time.Millisecond

// New makes the Lambda handler of an operation. It is safe for concurrent use.
func New(serve HandlerFunc, o Options) lambda.Handler {
	f := &function{serve: serve, Options: o}
	f.adapter = httpadapter.New(http.HandlerFunc(f.serveHTTP))
	return f
}

type function struct {
	Options
	serve   HandlerFunc
	adapter *httpadapter.HandlerAdapter
}

// Invoke implements lambda.Handler.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	started := f.Now()
	event, err := decodeEvent(payload)
	x := event.exchange()
	if err != nil {
		x.failed = apierror.From(err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
		defer cancel()
	}
	answer := f.answer(context.WithValue(ctx, exchangeKey{}, x), x, event)
	out, err := json.Marshal(answer)
	if err != nil { // strings, numbers and maps of them always encode
		return nil, fmt.Errorf("encode the proxy response: %w", err)
	}
	f.log(ctx, x, answer.StatusCode, f.Now().Sub(started))
	return out, nil
}

// answer gives the event to the adapter; where that fails, the answer is the error object all the same.
func (f *function) answer(ctx context.Context, x *exchange, event *proxyEvent) events.APIGatewayProxyResponse {
	if x.failed == nil {
		answer, err := f.adapter.ProxyWithContext(ctx, event.forAdapter())
		if err == nil {
			return answer
		}
		x.failed = apierror.From(fmt.Errorf("adapt the proxy event: %w", err))
	}
	w := newResponse(x.request.ID)
	x.errorID = f.NewID()
	apierror.Write(w, x.errorID, x.failed)
	return events.APIGatewayProxyResponse{StatusCode: w.status, MultiValueHeaders: w.frozen, Body: w.body.String()}
}

// serveHTTP runs the handler on a buffered writer and replays exactly one answer.
func (f *function) serveHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	x.setPathValues(r)
	buffered := newResponse(x.request.ID)
	if err := f.run(buffered, r); err != nil {
		x.failed = apierror.From(err)
		x.errorID = f.NewID()
		buffered = newResponse(x.request.ID)
		apierror.Write(buffered, x.errorID, x.failed)
	}
	buffered.replay(w)
}

// errPanic is the cause in the log when a handler panicked.
var errPanic = errors.New("the handler panicked")

func (f *function) run(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return f.serve(w, r)
}

// log writes the request's one line: Info, or Error with the cause where the fault is ours.
func (f *function) log(ctx context.Context, x *exchange, status int, took time.Duration) {
	attributes := []slog.Attr{
		slog.String("apiRequestId", x.request.ID),
		slog.String("method", x.request.Method),
		slog.String("route", x.request.ResourcePath),
		slog.Int("status", status),
		slog.Float64("milliseconds", float64(took.Microseconds())/1000),
		slog.String("principalId", x.request.PrincipalID),
	}
	if x.failed == nil {
		f.Logger.LogAttrs(ctx, slog.LevelInfo, "request", attributes...)
		return
	}
	attributes = append(attributes, slog.String("errorId", x.errorID), slog.String("error", x.failed.Kind.Name()))
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
		if cause := x.failed.Cause; cause != nil {
			attributes = append(attributes, slog.String("cause", cut(cause.Error())))
		}
	}
	f.Logger.LogAttrs(ctx, level, "request", attributes...)
}

// cut keeps a cause to a length that a log line bears: some DynamoDB-compatible engines echo the whole request in an error.
func cut(text string) string {
	const most = 4096 // bytes
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// WriteJSON answers with v as JSON, encoded before the status is sent.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}
