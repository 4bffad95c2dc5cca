package traffic

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
)

// NewGetFunction wires functions/get-traffic-usage.
func NewGetFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("TRAFFIC_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.GetTrafficUsage, Get(NewStore(client, tables)))), nil
}

// NewRecordFunction wires functions/record-traffic.
func NewRecordFunction(env *app.Env) (lambda.Handler, error) {
	const paths, exact = "COUNTED_PATHS", "EXACT_TRAFFIC"
	text, err := env.Var(paths)
	if err != nil {
		return nil, err
	}
	counted, err := ParsePaths(text)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", paths, err)
	}
	if text, err = env.Var(exact); err != nil {
		return nil, err
	}
	perEvent, err := strconv.ParseBool(text)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s must be true or false, not %q", exact, text)
	}
	client, tables, err := env.Tables("TRAFFIC_TABLE")
	if err != nil {
		return nil, err
	}
	log := &Log{
		Recorder: NewLedger(client, tables, env.Now, perEvent), Paths: counted, Logger: env.Logger, Now: env.Now,
		Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}
	return app.Event(log.Deliver), nil
}
