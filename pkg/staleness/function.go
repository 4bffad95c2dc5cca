package staleness

import (
	"errors"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
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
	client, tables, err := env.Tables("FEATURE_TYPES_TABLE", "FEATURES_TABLE")
	if err != nil {
		return nil, err
	}
	source, bus := env.Vars["EVENT_SOURCE"], env.Vars["EVENT_BUS"]
	if (source == "") != (bus == "") { // events would be stored and not sent, or sent without a source
		return nil, errors.New("the environment variables EVENT_SOURCE and EVENT_BUS must both be set, or none of them")
	}
	cfg, err := env.AWSConfig()
	if err != nil {
		return nil, err
	}
	return &Handler{
		Evaluator: &Evaluator{
			Toggles: feature.NewFlagStore(client, tables, source), Types: featuretype.NewStore(client, tables).Announcing(source, env.Now),
			Publisher: event.NewPublisher(cfg, bus, env.Logger), Now: env.Now, Pause: dynamo.Pause,
			Concurrency: env.Concurrency,
		},
		Logger: env.Logger, Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}, nil
}
