package traffic

import (
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
)

// NewGetFunction returns the handler of functions/get-traffic-usage.
func NewGetFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("TRAFFIC_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.Admin), Get(NewStore(client, tables)))), nil
}

// NewRecordFunction returns the handler of functions/record-traffic.
func NewRecordFunction(env *app.Env) (lambda.Handler, error) {
	const variable = "COUNTED_PATHS"
	text, err := env.Var(variable)
	if err != nil {
		return nil, err
	}
	paths, err := ParsePaths(text)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", variable, err)
	}
	client, tables, err := env.Tables("TRAFFIC_TABLE")
	if err != nil {
		return nil, err
	}
	recorder := &Recorder{
		Store: NewStore(client, tables), Paths: paths, Now: env.Now, Logger: env.Logger,
		Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}
	return app.Event(recorder.Handle), nil
}
