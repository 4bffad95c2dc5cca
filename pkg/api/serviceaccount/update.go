package serviceaccount

import (
	"cmp"
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

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
