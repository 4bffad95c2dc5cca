package person

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-users",
			Route:    "GET /api/admin/user-admin",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return List(reader(d), roles(d), accesstable.NewReader(d.DynamoDB, d.Tables), d.Now,
					d.Number("GROUPS_MAX_AGE_DAYS", 0, user.MaxGroupsDays))
			},
		},
		{
			Name:     "create-user",
			Route:    "POST /api/admin/user-admin",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, user.IdentifiersTable, accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d), roles(d), d.Now) },
		},
		{
			Name:     "search-users",
			Route:    "GET /api/admin/user-admin/search",
			Requires: access.IsUser,
			Tables:   []string{user.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Search(reader(d)) },
		},
		{
			Name:     "get-user",
			Route:    "GET /api/admin/user-admin/{id}",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "update-user",
			Route:    "PUT /api/admin/user-admin/{id}",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, user.IdentifiersTable, accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d), roles(d)) },
		},
		{
			Name:     "set-user-disabled",
			Route:    "PUT /api/admin/user-admin/{id}/disabled",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetDisabled(writer(d)) },
		},
		{
			Name:     "delete-user",
			Route:    "DELETE /api/admin/user-admin/{id}",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, user.IdentifiersTable, pat.Table, accesstable.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
				return Delete(reader(d), pat.NewStore(d.DynamoDB, d.Tables, log, nil)) // it creates no tokens
			},
		},
	}
}

func reader(d *app.Deps) *user.Store { return user.NewStore(d.DynamoDB, d.Tables, nil) }

func writer(d *app.Deps) *user.Store {
	return user.NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}

func roles(d *app.Deps) *role.Store { return role.NewStore(d.DynamoDB, d.Tables, nil) }
