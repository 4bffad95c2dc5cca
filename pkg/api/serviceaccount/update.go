package serviceaccount

import (
	"cmp"
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
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
		preconditions := lambdahttp.PreconditionsOf(r)
		account, err := accounts.Update(r.Context(), id, func(u *user.User) error {
			if err := preconditions.Check(lambdahttp.NoETag); err != nil {
				return err
			}
			u.Name = cmp.Or(body.Text("name"), u.Name)
			if rootRole, sent := body.Int("rootRole"); sent {
				u.Role = access.Role(rootRole)
			}
			return nil
		})
		if err != nil {
			return user.NameServiceAccount(r, err)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponse(account))
	}
}
