package staleness

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

// NewReevaluateFunction wires functions/reevaluate-staleness.
func NewReevaluateFunction(env *app.Env) (lambda.Handler, error) {
	types, evaluator, report, err := wire(env)
	if err != nil {
		return nil, err
	}
	return app.Event((&Stream{Types: types, Evaluator: evaluator, Report: report}).Handle), nil
}

// NewSweepFunction wires functions/sweep-staleness.
func NewSweepFunction(env *app.Env) (lambda.Handler, error) {
	types, evaluator, report, err := wire(env)
	if err != nil {
		return nil, err
	}
	return app.Event((&Sweeper{Types: types, Evaluator: evaluator, Report: report}).Handle), nil
}

func wire(env *app.Env) (*featuretype.Store, *Evaluator, Report, error) {
	client, tables, err := env.Tables("FEATURE_TYPES_TABLE", "FEATURES_TABLE")
	if err != nil {
		return nil, nil, Report{}, err
	}
	evaluator := &Evaluator{Toggles: feature.NewFlagStore(client, tables), Now: env.Now, Pause: dynamo.Pause}
	return featuretype.NewStore(client, tables), evaluator, Report{Logger: env.Logger, Function: env.Vars["AWS_LAMBDA_FUNCTION_NAME"]}, nil
}
