package pat

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewListOwnFunction returns the handler of functions/list-own-tokens.
func NewListOwnFunction(env *app.Env) (lambda.Handler, error) {
	return newReadFunction(env, access.IsUser, ListOwn)
}

// ListOwn serves GET /api/admin/user/tokens.
func ListOwn(pats *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := pats.ListOf(r.Context(), access.PrincipalFrom(r.Context()).UserID)
		if err != nil {
			return err
		}
		return writeList(w, all)
	}
}
