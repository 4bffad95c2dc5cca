package project

import (
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-projects",
			Route:    "GET /api/admin/projects",
			Requires: access.IsAnyone,
			Tables:   []string{featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(NewStore(d.DynamoDB, d.Tables)) },
		},
	}
}
