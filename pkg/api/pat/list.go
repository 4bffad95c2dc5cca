package pat

import (
	"errors"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewListFunction returns the handler of functions/list-service-account-tokens.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	if err != nil {
		return nil, err
	}
	handler := List(NewStore(client, tables, nil, nil), user.NewStore(client, tables, nil))
	return env.API(access.Require(access.Has(access.Admin), handler)), nil
}

// List serves GET /api/admin/service-account/{id}/token. It also reads the account: an account without tokens is not a
// 404, but a person is. It reads the tokens first, so that those of an account that is deleted in between are not an
// empty list.
func List(pats *Store, users *user.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		all, err := pats.ListOf(r.Context(), id)
		if err != nil {
			return err
		}
		owner, err := users.Get(r.Context(), id)
		if errors.Is(err, user.ErrNotFound) || err == nil && owner.Kind != user.ServiceAccount {
			return user.NoServiceAccount(r)
		}
		if err != nil {
			return err
		}
		return writeList(w, all)
	}
}
