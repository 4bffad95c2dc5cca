package contextfield

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
)

// NewListFunction wires functions/list-context-fields.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.ListContextFields, List(NewStore(client, tables)))), nil
}
