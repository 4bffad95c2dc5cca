package serviceaccount

import (
	"cmp"
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// Update serves PUT /api/admin/service-account/{id}.
func Update(users *user.Store, pats *pat.Store, roles *role.Store) lambdahttp.HandlerFunc {
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
		var rootRole access.Role
		if body.Has("rootRole") {
			if rootRole, err = roles.ParseRoot(r.Context(), body); err != nil {
				return err
			}
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		account, err := users.Update(r.Context(), user.ServiceAccount, id, func(u *user.User) error {
			if username, sent := body.TextOK("username"); sent && username != u.Username {
				return apierror.Invalid(apierror.At("/body/username", "must be %q, which does not change",
					apierror.Echo(u.Username)).Sent(username))
			}
			if err := preconditions.Check(lambdahttp.NoETag); err != nil {
				return err
			}
			u.Name, u.Role = cmp.Or(body.Text("name"), u.Name), cmp.Or(rootRole, u.Role)
			if body.Has("disabled") {
				u.Disabled = body.Bool("disabled")
			}
			return nil
		})
		if err != nil {
			return user.NameServiceAccount(r, err)
		}
		tokens, err := pats.ListOf(r.Context(), id)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponse(Account{account, tokens}))
	}
}
