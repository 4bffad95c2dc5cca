package serviceaccount

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/lambdahttp"
)

// NewListFunction returns the handler of functions/list-service-accounts.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.Has(auth.Admin), List(NewStore(client, tables, nil)))), nil
}

// role is roleSchema in api/openapi.yaml.
type role struct {
	ID          int64     `json:"id"`
	Name        auth.Role `json:"name"`
	Type        string    `json:"type"`
	Description string    `json:"description"`
}

// descriptions of the root roles.
var descriptions = map[auth.Role]string{
	auth.RoleAdmin:  "May use every operation.",
	auth.RoleEditor: "May read feature types and context fields, and create, replace and delete context fields.",
	auth.RoleViewer: "May read feature types and context fields.",
}

// List serves GET /api/admin/service-account.
func List(accounts *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := accounts.List(r.Context())
		if err != nil {
			return err
		}
		body := struct {
			ServiceAccounts []response `json:"serviceAccounts"`
			RootRoles       []role     `json:"rootRoles"`
		}{ServiceAccounts: make([]response, len(all))}
		for i, a := range all {
			body.ServiceAccounts[i] = newResponse(a)
		}
		for _, r := range auth.Roles() {
			body.RootRoles = append(body.RootRoles, role{r.ID(), r, "root", descriptions[r]})
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
