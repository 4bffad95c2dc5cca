package featuretype

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
)

const tableVar = "FEATURE_TYPES_TABLE"

// NewListFunction wires functions/list-feature-types.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables(tableVar)
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.ListFeatureTypes, List(NewStore(client, tables)))), nil
}

// NewUpdateLifetimeFunction wires functions/update-feature-type-lifetime.
func NewUpdateLifetimeFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables(tableVar)
	if err != nil {
		return nil, err
	}
	handler, err := UpdateLifetime(NewStore(client, tables))
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.UpdateFeatureTypeLifetime, handler)), nil
}
