package serviceaccount

import (
	_ "embed"
	"net/http"
	"time"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// Create serves POST /api/admin/service-account. limit is the maximum number of service accounts.
func Create(accounts *user.Store, roles *role.Store, now func() time.Time, limit int64) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		rootRole, err := roles.ParseRoot(r.Context(), body)
		if err != nil {
			return err
		}
		created := datetime.Milliseconds(now())
		account, err := accounts.Add(r.Context(), user.User{
			Kind:      user.ServiceAccount,
			Name:      body.Text("name"),
			Username:  body.Text("username"),
			Role:      rootRole,
			CreatedAt: &created,
		}, limit)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, newResponse(Account{User: account}))
	}
}
