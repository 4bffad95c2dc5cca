package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/lambdahttp"
)

// Env is everything that a function takes from outside: its constructor gets one and reads nothing else. Main fills it from the
// process, the local gateway fills one per function from template.yaml. It is read-only once handed over and safe for concurrent use.
type Env struct {
	Vars   map[string]string // the function's environment variables
	AWS    aws.Config        // region, credentials, HTTP client
	Now    func() time.Time
	Random io.Reader // cryptographically secure; safe for concurrent use
	Logger *slog.Logger

	// WarmUp opens the connection to DynamoDB while the function starts, when a Lambda has a whole CPU; nil does not.
	WarmUp func(ctx context.Context, endpoint string) error
}

// Constructor makes a function's handler. It fails when a variable is missing or malformed, naming it. The handler is safe for
// concurrent use.
type Constructor func(*Env) (lambda.Handler, error)

// endpointVar is the environment variable with the address of a DynamoDB-compatible engine; empty is AWS's own.
const endpointVar = "DYNAMODB_ENDPOINT"

// Var gives a variable that must not be empty.
func (e *Env) Var(name string) (string, error) {
	if v := e.Vars[name]; v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the environment variable %s is missing", name)
}

// Tables returns the DynamoDB client and the tables that the given variables name. Its error names every variable that is missing.
func (e *Env) Tables(vars ...string) (*dynamodb.Client, dynamo.Tables, error) {
	var tables dynamo.Tables
	var problems []error
	for _, v := range vars {
		name, err := e.Var(v)
		problems = append(problems, err, tables.SetVariable(v, name))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, dynamo.Tables{}, err
	}
	client, err := dynamo.NewClient(e.AWS, e.Vars[endpointVar])
	if err != nil {
		return nil, dynamo.Tables{}, fmt.Errorf("the environment variable %s: %w", endpointVar, err)
	}
	if e.WarmUp != nil {
		if err := e.WarmUp(context.Background(), e.Vars[endpointVar]); err != nil {
			e.Logger.Warn("DynamoDB is not reached yet", slog.Any("cause", err))
		}
	}
	return client, tables, nil
}

// NewID makes a UUID.
func (e *Env) NewID() string {
	id, err := uuid.NewRandomFromReader(e.Random)
	if err != nil { // the system's randomness does not fail
		panic(err)
	}
	return id.String()
}

// API makes the Lambda handler of an HTTP operation.
func (e *Env) API(serve lambdahttp.HandlerFunc) lambda.Handler {
	return lambdahttp.New(serve, lambdahttp.Options{Logger: e.Logger, Now: e.Now, NewID: e.NewID})
}

// Event makes the Lambda handler of a function whose event is not an HTTP request: it decodes the event, encodes the answer, and gives
// the function's error back as it is. lambda.NewHandler would do the same, but its handler returns a buffer that it has already given
// back to a pool, so its concurrent calls may answer with each other's bytes (aws-lambda-go v1.55).
func Event[In, Out any](handle func(context.Context, In) (Out, error)) lambda.Handler {
	return eventHandler[In, Out](handle)
}

type eventHandler[In, Out any] func(context.Context, In) (Out, error)

// Invoke implements lambda.Handler.
func (handle eventHandler[In, Out]) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var in In
	if err := lambdahttp.Decode(payload, &in); err != nil {
		return nil, fmt.Errorf("decode the event: %w", err)
	}
	out, err := handle(ctx, in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
