package rights

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-user-permissions",
			Route:    "GET /api/admin/user-admin/{id}/permissions",
			Requires: access.IsAnyone, // the handler requires ADMIN, or the account itself
			Tables:   []string{user.Table, accesstable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Overview(open(d), user.Person) },
		},
		{
			Name:     "get-service-account-permissions",
			Route:    "GET /api/admin/service-account/{id}/permissions",
			Requires: access.IsAnyone, // the handler requires ADMIN, or the account itself
			Tables:   []string{user.Table, accesstable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Overview(open(d), user.ServiceAccount) },
		},
		{
			Name:     "get-user-roles",
			Route:    "GET /api/admin/user/roles",
			Requires: access.IsUser,
			Tables:   []string{user.Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return OwnRoles(open(d)) },
		},
	}
}

func open(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, d.Now, d.Number("GROUPS_MAX_AGE_DAYS", 0, user.MaxGroupsDays))
}
