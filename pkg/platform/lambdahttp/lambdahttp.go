package lambdahttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/logging"
)

// HandlerFunc serves one operation. If it returns an error, the response is the error object, and what it wrote before
// is discarded. It must be safe for concurrent use.
type HandlerFunc func(http.ResponseWriter, *http.Request) error

// Options are the dependencies of New.
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

// New returns the Lambda handler of an operation. It is safe for concurrent use.
func New(serve HandlerFunc, o Options, more ...Option) lambda.Handler {
	f := &function{Options: o, serve: serve, maxBody: DefaultMaxBody}
	for _, set := range more {
		set(f)
	}
	return f
}

type function struct {
	Options
	serve   HandlerFunc
	maxBody int64
}

// Invoke implements lambda.Handler.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	started := f.Now()
	event, err := decodeEvent(payload)
	var response events.APIGatewayProxyResponse
	if err == nil {
		response, err = f.respond(ctx, event)
	}
	level := slog.LevelDebug // the access log has a line for every request
	var more []slog.Attr
	if err != nil {
		level = slog.LevelInfo
		id := f.NewID()
		w := newResponse(event.RequestContext.RequestID)
		WriteError(w, id, err)
		response = events.APIGatewayProxyResponse{StatusCode: w.status, MultiValueHeaders: w.frozen, Body: w.body.String()}
		more = append(more, slog.String("errorId", id), slog.String("error", apierror.KindOf(err).Name()))
		if w.status >= http.StatusInternalServerError {
			level = slog.LevelError
			more = append(more, logging.Cause(err))
		}
	}
	if event.HTTPMethod == http.MethodHead {
		response.Body = "" // RFC 9110, section 9.3.2
	}
	encoded, err := jsonbody.Encode(response)
	if len(encoded) > LargeResponse {
		level = slog.LevelWarn
		more = append(more, slog.Int(ResponseBytes, len(encoded)))
	}
	principalID, _ := event.RequestContext.Authorizer["principalId"].(string)
	f.Logger.LogAttrs(ctx, level, "request", append([]slog.Attr{
		slog.String("apiRequestId", event.RequestContext.RequestID),
		slog.String("method", event.HTTPMethod),
		slog.String("route", event.Resource),
		slog.Int("status", response.StatusCode),
		slog.Float64("milliseconds", logging.Milliseconds(f.Now().Sub(started))),
		slog.String("principalId", principalID),
	}, more...)...)
	return encoded, err
}

// respond calls the handler through the proxy library.
func (f *function) respond(ctx context.Context, event *proxyEvent) (events.APIGatewayProxyResponse, error) {
	ctx, cancel := invocation.StopEarly(ctx, invocation.Margin)
	defer cancel()
	ctx = apigateway.WithRequest(ctx, apigateway.Request{
		ID: event.RequestContext.ExtendedRequestID, Authorizer: event.RequestContext.Authorizer,
		PathParameters: event.PathParameters, Query: event.Query,
	})
	var failed error
	adapter := httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event.complete(r, f.maxBody)
		buffered := newResponse(event.RequestContext.RequestID)
		failed = f.call(buffered, r)
		buffered.copyTo(w)
	}))
	response, err := adapter.ProxyWithContext(ctx, event.forLibrary())
	if err != nil {
		return response, fmt.Errorf("convert the proxy event: %w", err)
	}
	return response, failed
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
