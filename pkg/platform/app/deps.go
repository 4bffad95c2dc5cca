package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// Deps contains what a handler is constructed from: the environment of the function and, after OpenTables, the DynamoDB
// client and its tables. A method that reads a variable which is missing or malformed returns the zero value. New then
// returns one error that names all such variables, so constructors need no error handling. It is not safe for
// concurrent use.
type Deps struct {
	*Env
	DynamoDB *dynamodb.Client
	Tables   dynamo.Tables
	problems []error
}

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

// Fail makes New return an error. nil is no error.
func (d *Deps) Fail(err error) {
	if err != nil {
		d.problems = append(d.problems, err)
	}
}

// Err returns all errors so far, or nil.
func (d *Deps) Err() error { return errors.Join(d.problems...) }

// Var returns a variable that must not be empty.
func (d *Deps) Var(name string) string {
	value := d.Vars[name]
	if value == "" {
		d.Fail(fmt.Errorf("the environment variable %s is missing", name))
	}
	return value
}

// Number returns a variable that is a whole number from least to most.
func (d *Deps) Number(name string, least, most int64) int64 {
	text := d.Var(name)
	if text == "" {
		return 0
	}
	n, err := ParseNumber(text, least, most)
	if err != nil {
		d.Fail(fmt.Errorf("the environment variable %s %w", name, err))
	}
	return n
}

// flag returns a variable that is "true" or "false". If it is missing, it is false.
func (d *Deps) flag(name string) bool {
	value := d.Vars[name]
	if value != "" && value != "true" && value != "false" {
		d.Fail(fmt.Errorf("the environment variable %s must be true or false", name))
	}
	return value == "true"
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
// an endpoint of DynamoDB, all services use that endpoint, as an emulator serves them, unless d.AWS has one of its own.
func (d *Deps) AWSConfig() aws.Config {
	config := d.AWS
	config.ConfigSources = []any{endpointVariant{fips: d.flag(fipsVar), dualStack: d.flag(dualStackVar)}}
	if endpoint := d.Vars[endpointVar]; endpoint != "" && config.BaseEndpoint == nil {
		config.BaseEndpoint = &endpoint
	}
	return config
}

// OpenTables sets d.DynamoDB, and d.Tables to the tables with the logical ids. Environment variables contain their
// names (dynamo.Variable).
func (d *Deps) OpenTables(ids ...string) {
	d.Tables = dynamo.Tables{}
	for _, id := range ids {
		d.Tables[id] = d.Var(dynamo.Variable(id))
	}
	client, err := dynamo.NewClient(d.AWSConfig(), d.Vars[endpointVar])
	if err != nil {
		d.Fail(fmt.Errorf("the environment variable %s: %w", endpointVar, err))
	}
	d.DynamoDB = client
	if !d.WarmUp || d.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), warmUpTimeout)
	defer cancel()
	if err := dynamo.WarmUp(ctx, client); err != nil {
		d.Logger.Warn("warm up the connection to DynamoDB", slog.Any("cause", err))
	}
}
