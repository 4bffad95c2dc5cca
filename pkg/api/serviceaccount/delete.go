package serviceaccount

import (
	"cmp"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewDeleteFunction returns the handler of functions/delete-service-account.
func NewDeleteFunction(env *app.Env) (lambda.Handler, error) {
	store, err := newStore(env, "IDENTIFIERS_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.Admin), Delete(store))), nil
}

// Delete serves DELETE /api/admin/service-account/{id}.
func Delete(accounts *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		failed := lambdahttp.PreconditionsOf(r).Check(lambdahttp.NoETag)
		if failed == nil {
			err = accounts.Delete(r.Context(), id)
		} else {
			err = cmp.Or(accounts.Find(r.Context(), id), failed)
		}
		return user.NameServiceAccount(r, err) // nil: 200 without a body
	}
}
