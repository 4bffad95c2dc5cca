package serviceaccount

import (
	"cmp"
	_ "embed"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// NewUpdateFunction returns the handler of functions/update-service-account.
func NewUpdateFunction(env *app.Env) (lambda.Handler, error) {
	store, err := newStore(env)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.Admin), Update(store))), nil
}

// Update serves PUT /api/admin/service-account/{id}.
func Update(accounts *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		failed := lambdahttp.PreconditionsOf(r).Check(lambdahttp.NoETag)
		change := user.Change{Name: body.Text("name")}
		if rootRole, sent := body.Int("rootRole"); sent {
			change.Role = roleOf(rootRole)
		}
		if failed != nil {
			change = user.Change{}
		}
		account, err := accounts.Update(r.Context(), id, change)
		if err = cmp.Or(err, failed); err != nil {
			return user.NameServiceAccount(r, err)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponse(account))
	}
}
