package user

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
			Name:     "get-me",
			Route:    "GET /api/admin/user",
			Requires: access.IsUser,
			Tables:   []string{Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetOwn(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
	}
}
