package serviceaccount

import (
	_ "embed"
	"net/http"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// Create serves POST /api/admin/service-account. limit is the maximum number of service accounts.
func Create(accounts *user.Store, now func() time.Time, limit int64) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		rootRole, _ := body.Int("rootRole")
		created := datetime.Milliseconds(now())
		account, err := accounts.Add(r.Context(), user.User{
			Kind:      user.ServiceAccount,
			Name:      body.Text("name"),
			Username:  body.Text("username"),
			Role:      access.Role(rootRole),
			CreatedAt: &created,
		}, limit)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, newResponse(Account{User: account}))
	}
}
