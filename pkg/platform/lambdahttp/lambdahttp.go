package lambdahttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/logging"
)

// HandlerFunc serves requests. If it returns an error, the response is the error object, and what it wrote before is
// discarded, except the headers that say who can read the response. It must be safe for concurrent use.
type HandlerFunc func(http.ResponseWriter, *http.Request) error

// Options are the dependencies of New and FunctionURL.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	NewID  func() string // returns a UUID; identifies an error
}

// Option changes what is the same for most operations.
type Option func(*function)

// MaxBody sets the size limit of the request body, in bytes, instead of DefaultMaxBody.
func MaxBody(bytes int64) Option { return func(f *function) { f.maxBody = bytes } }

const (
	// LargeResponse is the size in bytes above which the log line of a response has the level WARN and the attribute
	// ResponseBytes. Lambda returns at most 6 MB (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html).
	LargeResponse = 4_000_000
	// ResponseBytes is the attribute with the size of a large response. Metric filters of template.yaml read it.
	ResponseBytes = "responseBytes"
)

// New returns the Lambda handler of an operation of the REST API. It is safe for concurrent use.
func New(serve HandlerFunc, o Options, more ...Option) lambda.Handler {
	f := &function{
		Options: o, serve: serve, maxBody: DefaultMaxBody, refused: slog.LevelInfo, large: LargeResponse,
		newEvent: func() event { return &proxyEvent{} },
	}
	for _, set := range more {
		set(f)
	}
	return f
}

// FunctionURL returns the Lambda handler of a function URL. HandlerFunc limits the body. The function counts what it
// refuses and how much it returns: a flood does not fill its log, and most responses are large. It is safe for concurrent
// use.
func FunctionURL(serve HandlerFunc, o Options) lambda.Handler {
	return &function{
		Options: o, serve: serve, maxBody: maxPayload, refused: slog.LevelDebug, large: maxPayload,
		newEvent: func() event { return &urlEvent{} },
	}
}

// maxPayload is larger than the largest payload of Lambda.
const maxPayload = 6 << 20

// function serves the requests of Lambda events.
type function struct {
	Options
	serve    HandlerFunc
	maxBody  int64
	refused  slog.Level // of the line of the log about an error of the client
	large    int        // the size of a response, in bytes, above which it is logged
	newEvent func() event
}

// event is a request in the form in which Lambda gets it.
type event interface {
	method() string
	// requestID returns the id of the request that the response repeats; empty: it repeats none.
	requestID() string
	// request returns the request that the client sent. maxBody is the size limit of its body.
	request(ctx context.Context, maxBody int64) (*http.Request, error)
	// response returns the response in the form that Lambda returns.
	response(w *response) (any, error)
	// attributes describe the request in the log.
	attributes() []slog.Attr
}

// Invoke implements lambda.Handler. Every failure is a response.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	started := f.Now()
	e := f.newEvent()
	err := invocation.Decode(payload, e)
	w := newResponse(e.requestID())
	var header http.Header // of the request
	if err != nil {
		err = fmt.Errorf("decode the event: %w", err)
	} else {
		header, err = f.respond(ctx, e, w)
	}
	level := slog.LevelDebug // the access log has a line for every request
	var more []slog.Attr
	if err != nil {
		id := f.NewID()
		w.discard()
		WriteError(w, header, id, err)
		more = append(more, slog.String("errorId", id), slog.String("error", apierror.KindOf(err).Name()))
		level = f.refused
		if w.status >= http.StatusInternalServerError {
			level = slog.LevelError
			more = append(more, logging.Cause(err))
		}
	}
	if e.method() == http.MethodHead {
		w.body.Reset() // RFC 9110, section 9.3.2
	}
	w.WriteHeader(http.StatusOK)
	converted, err := e.response(w)
	if err != nil {
		return nil, fmt.Errorf("convert the response: %w", err)
	}
	encoded, err := jsonbody.Encode(converted)
	if len(encoded) > f.large {
		level = slog.LevelWarn
		more = append(more, slog.Int(ResponseBytes, len(encoded)))
	}
	if f.Logger.Enabled(ctx, level) {
		line := append(e.attributes(), slog.Int("status", w.status),
			slog.Float64("milliseconds", logging.Milliseconds(f.Now().Sub(started))))
		f.Logger.LogAttrs(ctx, level, "request", append(line, more...)...)
	}
	return encoded, err
}

// respond calls the handler, and returns the header of the request.
func (f *function) respond(ctx context.Context, e event, w *response) (http.Header, error) {
	ctx, cancel := invocation.StopEarly(ctx, invocation.Margin)
	defer cancel()
	r, err := e.request(ctx, f.maxBody)
	if err != nil {
		return nil, err
	}
	return r.Header, f.call(w, r)
}

// errPanic is the cause of the 500 response if a handler panics.
var errPanic = errors.New("the handler panicked")

func (f *function) call(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return f.serve(w, r)
}

// WriteJSON writes v as the JSON body of a response. If v cannot be encoded, it returns an error and writes nothing.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := jsonbody.Encode(v)
	if err != nil {
		return fmt.Errorf("encode the response: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}

// WriteHealth writes the response to a health check, which is Unleash's. It says that a function can be reached.
func WriteHealth(w http.ResponseWriter) error {
	return WriteJSON(w, http.StatusOK, struct {
		Health string `json:"health"`
	}{"GOOD"})
}
