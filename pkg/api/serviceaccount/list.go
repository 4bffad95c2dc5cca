package serviceaccount

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// role is roleSchema in api/openapi.yaml.
type role struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	Type        access.RoleType `json:"type"`
	Description string          `json:"description"`
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
		for _, r := range access.FixedRoles() {
			if r.Type == access.RootType {
				body.RootRoles = append(body.RootRoles, role{int64(r.ID), r.Name, r.Type, r.Description})
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
