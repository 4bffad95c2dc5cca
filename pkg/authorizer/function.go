package authorizer

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
)

// NewFunction makes the handler of functions/authorizer.
func NewFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE", "API_TOKENS_TABLE")
	if err != nil {
		return nil, err
	}
	a := &Authenticator{Store: NewStore(client, tables), Now: env.Now, Logger: env.Logger}
	return app.Event(a.Authorize), nil
}
