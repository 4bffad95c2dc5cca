package group

import (
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	read := []string{accesstable.Table, user.Table}
	written := []string{accesstable.Table, user.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-groups",
			Route:    "GET /api/admin/groups",
			Requires: access.IsAnyone,
			Tables:   read,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "create-group",
			Route:    "POST /api/admin/groups",
			Requires: access.Has(access.Admin),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(writer(d), user.NewStore(d.DynamoDB, d.Tables, nil), d.Now)
			},
		},
		{
			Name:     "get-group",
			Route:    "GET /api/admin/groups/{groupId}",
			Requires: access.IsAnyone,
			Tables:   read,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Get(NewStore(d.DynamoDB, d.Tables, nil), user.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "update-group",
			Route:    "PUT /api/admin/groups/{groupId}",
			Requires: access.Has(access.Admin),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Update(writer(d), user.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "delete-group",
			Route:    "DELETE /api/admin/groups/{groupId}",
			Requires: access.Has(access.Admin),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
