package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"toggleadmin/pkg/platform/dynamo"
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
	WarmUp bool // open the connection to DynamoDB while the function starts, when a Lambda function has a whole CPU

	// Not set in Lambda.

	Transport   http.RoundTripper // of requests to the issuer and to the webhook; nil: the functions' own
	Concurrency int               // the maximum number of concurrent calls of a re-evaluation; 0: the function's own
}

// Constructor makes a function's handler, which is safe for concurrent use. Its error names each variable that is
// missing or malformed.
type Constructor func(*Env) (lambda.Handler, error)

const (
	// endpointVar is the environment variable with the endpoint of a DynamoDB-compatible engine. If it is empty, AWS is
	// used.
	endpointVar = "DYNAMODB_ENDPOINT"

	// The SDK's variables for other endpoints of AWS, "true" or "false".
	fipsVar      = "AWS_USE_FIPS_ENDPOINT"
	dualStackVar = "AWS_USE_DUALSTACK_ENDPOINT"

	// warmUpTimeout bounds the warm-up. A function that cannot reach DynamoDB at its start still starts.
	warmUpTimeout = time.Second
)

// Var returns a variable that must not be empty.
func (e *Env) Var(name string) (string, error) {
	if v := e.Vars[name]; v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the environment variable %s is missing", name)
}

// Number returns a variable that is a whole number from least to most. Its error names the variable.
func (e *Env) Number(name string, least, most int64) (int64, error) {
	text, err := e.Var(name)
	if err != nil {
		return 0, err
	}
	n, err := ParseNumber(text, least, most)
	if err != nil {
		return 0, fmt.Errorf("the environment variable %s %w", name, err)
	}
	return n, nil
}

// ParseNumber returns the whole number that a setting contains. Its error continues a sentence that names the setting.
func ParseNumber(text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d, not %q", least, most, text)
	}
	return n, nil
}

// flag returns a variable that is "true" or "false". If it is missing, it is false.
func (e *Env) flag(name string) (bool, error) {
	switch e.Vars[name] {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, fmt.Errorf("the environment variable %s must be true or false", name)
}

// endpointVariant tells the SDK which endpoint of AWS to resolve. In other programs the SDK's package config does this.
// It is not linked here because it reads many more sources.
type endpointVariant struct{ fips, dualStack bool }

// GetUseFIPSEndpoint is called by the SDK.
func (v endpointVariant) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, v.fips, nil
}

// GetUseDualStackEndpoint is called by the SDK.
func (v endpointVariant) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, v.dualStack, nil
}

// AWSConfig returns the configuration for clients of AWS services, with the endpoints that the variables select. With
// an endpoint of DynamoDB, all services use that endpoint, as an emulator serves them, unless e.AWS has one of its own.
// The error names every variable that is malformed.
func (e *Env) AWSConfig() (aws.Config, error) {
	fips, fipsErr := e.flag(fipsVar)
	dualStack, dualStackErr := e.flag(dualStackVar)
	config := e.AWS
	config.ConfigSources = []any{endpointVariant{fips, dualStack}}
	if endpoint := e.Vars[endpointVar]; endpoint != "" && config.BaseEndpoint == nil {
		config.BaseEndpoint = &endpoint
	}
	return config, errors.Join(fipsErr, dualStackErr)
}

// Tables returns the DynamoDB client and the tables that the given variables name. Its error names every variable that
// is missing.
func (e *Env) Tables(vars ...string) (*dynamodb.Client, dynamo.Tables, error) {
	var tables dynamo.Tables
	var problems []error
	for _, v := range vars {
		name, err := e.Var(v)
		problems = append(problems, err, tables.SetVariable(v, name))
	}
	config, configErr := e.AWSConfig()
	client, err := dynamo.NewClient(config, e.Vars[endpointVar])
	if err != nil {
		err = fmt.Errorf("the environment variable %s: %w", endpointVar, err)
	}
	problems = append(problems, configErr, err)
	if err := errors.Join(problems...); err != nil {
		return nil, dynamo.Tables{}, err
	}
	if e.WarmUp {
		ctx, cancel := context.WithTimeout(context.Background(), warmUpTimeout)
		defer cancel()
		if err := dynamo.WarmUp(ctx, client); err != nil {
			e.Logger.Warn("warm up the connection to DynamoDB", slog.Any("cause", err))
		}
	}
	return client, tables, nil
}

// API makes the Lambda handler of an HTTP operation.
func (e *Env) API(serve lambdahttp.HandlerFunc, options ...lambdahttp.Option) lambda.Handler {
	newID := func() string { return uuid.Must(uuid.NewRandomFromReader(e.Random)).String() }
	return lambdahttp.New(serve, lambdahttp.Options{Logger: e.Logger, Now: e.Now, NewID: newID}, options...)
}

// Event makes the Lambda handler of a function whose event is not an HTTP request. lambda.NewHandler is not safe for
// concurrent use: its handler returns a buffer that it has already put back into a pool (aws-lambda-go v1.55).
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
