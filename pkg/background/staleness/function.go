package staleness

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
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
			Toggles: feature.NewStore(client, tables, log), Types: featuretype.NewStore(client, tables, nil),
			Now: env.Now, Pause: dynamo.Pause, Concurrency: env.Concurrency,
		},
		Logger: env.Logger, Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}, nil
}
