package authorizer

import (
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/oidc"
)

// NewFunction makes the handler of functions/authorizer.
func NewFunction(env *app.Env) (lambda.Handler, error) {
	issuer, issuerErr := oidc.New(oidc.Config{
		Issuer: env.Vars["OIDC_ISSUER"], ClientID: env.Vars["OIDC_CLIENT_ID"], Loopback: env.Local, Now: env.Now,
		Logger:    env.Logger,
		Transport: env.Transport,
	})
	role, roleErr := defaultRole(env)
	store, err := newStore(env)
	if err := errors.Join(issuerErr, roleErr, err); err != nil {
		return nil, err
	}
	a := &Authenticator{Store: store, Issuer: issuer, DefaultRole: role, Now: env.Now, Logger: env.Logger}
	return app.Event(a.Authorize), nil
}

// newStore returns the store on the tables of an environment. Without an issuer, nobody signs in, and nothing is
// recorded.
func newStore(env *app.Env) (*Store, error) {
	variables := []string{"PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE", "API_TOKENS_TABLE"}
	if env.Vars["OIDC_ISSUER"] == "" {
		client, tables, err := env.Tables(variables...)
		return NewStore(client, tables, nil), err
	}
	client, tables, log, err := eventlog.Open(env, append(variables, "IDENTIFIERS_TABLE")...)
	return NewStore(client, tables, log), err
}

// defaultRole returns the role of people who sign in for the first time, or "".
func defaultRole(env *app.Env) (access.Role, error) {
	role := access.Role(env.Vars["OIDC_DEFAULT_ROLE"])
	if role != "" && role.ID() == 0 {
		return "", fmt.Errorf("the environment variable OIDC_DEFAULT_ROLE is %q: it must be empty or one of %s", role,
			access.Roles())
	}
	if role != "" && env.Vars["OIDC_ISSUER"] == "" {
		return "", errors.New("the environment variable OIDC_DEFAULT_ROLE must be empty, because OIDC_ISSUER is empty")
	}
	return role, nil
}
