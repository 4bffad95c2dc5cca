package authorizer

import (
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/oidc"
)

// NewFunction makes the handler of functions/authorizer.
func NewFunction(env *app.Env) (lambda.Handler, error) {
	issuer, issuerErr := oidc.New(oidc.Config{
		Issuer: env.Vars["OIDC_ISSUER"], ClientID: env.Vars["OIDC_CLIENT_ID"], Loopback: env.Local, Now: env.Now, Logger: env.Logger,
		Transport: env.Transport,
	})
	role, roleErr := defaultRole(env)
	variables := []string{"PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE", "API_TOKENS_TABLE"}
	if env.Vars["OIDC_ISSUER"] != "" {
		variables = append(variables, "IDENTIFIERS_TABLE")
	}
	client, tables, err := env.Tables(variables...)
	if err := errors.Join(issuerErr, roleErr, err); err != nil {
		return nil, err
	}
	a := &Authenticator{Store: NewStore(client, tables), Issuer: issuer, DefaultRole: role, Now: env.Now, Logger: env.Logger}
	return app.Event(a.Authorize), nil
}

// defaultRole returns the role of people who sign in for the first time, or "".
func defaultRole(env *app.Env) (auth.Role, error) {
	role := auth.Role(env.Vars["OIDC_DEFAULT_ROLE"])
	if role != "" && role.ID() == 0 {
		return "", fmt.Errorf("the environment variable OIDC_DEFAULT_ROLE is %q: it must be empty or one of %s", role, auth.Roles())
	}
	if role != "" && env.Vars["OIDC_ISSUER"] == "" {
		return "", errors.New("the environment variable OIDC_DEFAULT_ROLE must be empty, because OIDC_ISSUER is empty")
	}
	return role, nil
}
