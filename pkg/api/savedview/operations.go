package savedview

import (
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-saved-views",
			Route:    "GET /api/admin/user/views",
			Requires: access.IsUser,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(NewStore(d.DynamoDB, d.Tables)) },
		},
		{
			Name:     "set-saved-views",
			Route:    "PUT /api/admin/user/views",
			Requires: access.IsUser,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Set(NewStore(d.DynamoDB, d.Tables)) },
		},
	}
}
