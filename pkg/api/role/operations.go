package role

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	written := []string{accesstable.Table, environment.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-permissions",
			Route:    "GET /api/admin/permissions",
			Requires: access.IsAnyone,
			Tables:   []string{environment.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Permissions(environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "get-roles",
			Route:    "GET /api/admin/roles",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "create-role",
			Route:    "POST /api/admin/roles",
			Requires: access.Has(access.Admin),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d)) },
		},
		{
			Name:     "validate-role",
			Route:    "POST /api/admin/roles/validate",
			Requires: access.Has(access.Admin),
			Tables:   []string{accesstable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Validate(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "get-role-by-id",
			Route:    "GET /api/admin/roles/{roleId}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "update-role",
			Route:    "PUT /api/admin/roles/{roleId}",
			Requires: access.Has(access.Admin),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d)) },
		},
		{
			Name:     "delete-role",
			Route:    "DELETE /api/admin/roles/{roleId}",
			Requires: access.Has(access.Admin),
			Tables:   append([]string{user.Table}, written...),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
