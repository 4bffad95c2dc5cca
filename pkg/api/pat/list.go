package pat

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewListFunction returns the handler of functions/list-service-account-tokens.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	return newReadFunction(env, access.Has(access.Admin), List, "USERS_TABLE")
}

func newReadFunction(
	env *app.Env, requirement access.Requirement, serve func(*Store) lambdahttp.HandlerFunc, more ...string,
) (lambda.Handler, error) {
	client, tables, err := env.Tables(append(more, "PERSONAL_ACCESS_TOKENS_TABLE")...)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(requirement, serve(NewStore(client, tables, nil, nil)))), nil
}

// List serves GET /api/admin/service-account/{id}/token. It also reads the account: an account without tokens is not a
// 404, but a person is. It reads the tokens first, so that those of an account that is deleted in between are not an
// empty list.
func List(pats *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		all, err := pats.ListOf(r.Context(), id)
		if err != nil {
			return err
		}
		if _, err = pats.accounts.Find(r.Context(), user.ServiceAccount, id); err != nil {
			return user.NameServiceAccount(r, err)
		}
		return writeList(w, all)
	}
}
