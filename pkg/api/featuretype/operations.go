package featuretype

import (
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-all-feature-types",
			Route:    "GET /api/admin/feature-types",
			Requires: access.IsAnyone,
			Tables:   []string{Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "update-feature-type-lifetime",
			Route:    "PUT /api/admin/feature-types/{id}/lifetime",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return UpdateLifetime(NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)))
			},
		},
	}
}
