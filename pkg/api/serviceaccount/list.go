package serviceaccount

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// role is roleSchema in api/openapi.yaml.
type role struct {
	ID          int64       `json:"id"`
	Name        access.Role `json:"name"`
	Type        string      `json:"type"`
	Description string      `json:"description"`
}

// descriptions of the root roles.
var descriptions = map[access.Role]string{
	access.RoleAdmin: "May use every operation.",
	access.RoleEditor: "May read feature types, context fields and toggles, and " +
		"create, change and delete context fields and toggles.",
	access.RoleViewer: "May read feature types, context fields and toggles.",
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
		for _, r := range access.Roles() {
			body.RootRoles = append(body.RootRoles, role{r.ID(), r, "root", descriptions[r]})
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
