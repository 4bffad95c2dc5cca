package staleness

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

// NewReevaluateFunction returns the handler of functions/reevaluate-staleness.
func NewReevaluateFunction(env *app.Env) (lambda.Handler, error) {
	h, err := newHandler(env)
	if err != nil {
		return nil, err
	}
	return app.Event(h.Stream), nil
}

// NewSweepFunction returns the handler of functions/sweep-staleness.
func NewSweepFunction(env *app.Env) (lambda.Handler, error) {
	h, err := newHandler(env)
	if err != nil {
		return nil, err
	}
	return app.Event(h.Sweep), nil
}

func newHandler(env *app.Env) (*Handler, error) {
	client, tables, log, err := eventlog.Open(env, "FEATURE_TYPES_TABLE", "FEATURES_TABLE")
	if err != nil {
		return nil, err
	}
	return &Handler{
		Evaluator: &Evaluator{
			Toggles: feature.NewFlagStore(client, tables, log), Types: featuretype.NewStore(client, tables, nil),
			Now: env.Now, Pause: dynamo.Pause, Concurrency: env.Concurrency,
		},
		Logger: env.Logger, Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}, nil
}
