package feedback

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// NewUpdateFunction wires functions/update-feedback.
func NewUpdateFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("FEEDBACK_TABLE", "USERS_TABLE")
	if err != nil {
		return nil, err
	}
	handler, err := Update(NewStore(client, tables), user.NewStore(client, tables))
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.UpdateFeedback, handler)), nil
}
