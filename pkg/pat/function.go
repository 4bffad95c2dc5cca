package pat

import (
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
)

const limitVar = "MAX_TOKENS_PER_ACCOUNT"

// NewCreateFunction wires functions/create-service-account-token.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	text, err := env.Var(limitVar)
	if err != nil {
		return nil, err
	}
	limit, err := ParseLimit(text)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s %w", limitVar, err)
	}
	store, err := newStore(env)
	if err != nil {
		return nil, err
	}
	handler, err := Create(store, env.Now, limit)
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.CreateServiceAccountToken, handler)), nil
}

// NewDeleteFunction wires functions/delete-own-token.
func NewDeleteFunction(env *app.Env) (lambda.Handler, error) {
	store, err := newStore(env)
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.DeleteOwnToken, Delete(store))), nil
}

func newStore(env *app.Env) (*Store, error) {
	client, tables, err := env.Tables("PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	if err != nil {
		return nil, err
	}
	return NewStore(client, tables, env.Random), nil
}
