package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Env contains the dependencies of a function. Main fills one from the process; package local fills one for each
// function from template.yaml. It is not changed afterwards, and is safe for concurrent use.
type Env struct {
	Vars   map[string]string // the function's environment variables
	AWS    aws.Config        // region, credentials, HTTP client
	Now    func() time.Time
	Random io.Reader // cryptographically secure; safe for concurrent use
	Logger *slog.Logger
	Local  bool // make run: an OpenID Connect issuer and a webhook at a loopback address can have http://
	WarmUp bool // open the connection to DynamoDB while the function starts, in Lambda's init phase, which has a full CPU

	// Not set in Lambda.

	Transport   http.RoundTripper // of requests to the issuer and to the webhook; nil: the functions' own
	Concurrency int               // the maximum number of concurrent calls of a re-evaluation; 0: the function's own
}

// Constructor creates a function's handler, which is safe for concurrent use. Its error names each variable that is
// missing or malformed. Operation.New and Function.New are constructors.
type Constructor func(*Env) (lambda.Handler, error)

// ParseNumber returns the whole number that a setting contains. Its error continues a sentence that names the setting.
func ParseNumber(text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d, not %q", least, most, text)
	}
	return n, nil
}

// API makes the Lambda handler of an HTTP operation.
func (e *Env) API(serve lambdahttp.HandlerFunc, options ...lambdahttp.Option) lambda.Handler {
	return lambdahttp.New(serve, e.http(), options...)
}

// FunctionURL makes the Lambda handler of a function URL.
func (e *Env) FunctionURL(serve lambdahttp.HandlerFunc) lambda.Handler {
	return lambdahttp.FunctionURL(serve, e.http())
}

func (e *Env) http() lambdahttp.Options {
	return lambdahttp.Options{Logger: e.Logger, Now: e.Now, NewID: e.NewID}
}

// NewID returns a random UUID.
func (e *Env) NewID() string { return uuid.Must(uuid.NewRandomFromReader(e.Random)).String() }

// Event makes the Lambda handler of a function whose event is not an HTTP request. lambda.NewHandler is not safe for
// concurrent use: its handler returns a buffer that it has already put back into a pool (aws-lambda-go v1.55).
func Event[In, Out any](handle func(context.Context, In) (Out, error)) lambda.Handler {
	return eventHandler[In, Out](handle)
}

type eventHandler[In, Out any] func(context.Context, In) (Out, error)

// Invoke implements lambda.Handler.
func (handle eventHandler[In, Out]) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var in In
	if err := invocation.Decode(payload, &in); err != nil {
		return nil, fmt.Errorf("decode the event: %w", err)
	}
	out, err := handle(ctx, in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
