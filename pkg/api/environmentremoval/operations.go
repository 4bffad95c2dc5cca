package environmentremoval

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	tables := []string{environment.Table, featuretable.Table, contextfield.Table, segmenttable.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "create-environment",
			Route:    "POST /api/admin/environments",
			Requires: access.Has(access.Admin),
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(stores(d)) },
		},
		{
			Name:     "remove-environment",
			Route:    "DELETE /api/admin/environments/{name}",
			Requires: access.Has(access.Admin),
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(stores(d)) },
		},
	}
}

func stores(d *app.Deps) (*environment.Store, *feature.Store) {
	log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
	return environment.NewStore(d.DynamoDB, d.Tables, log), feature.NewStore(d.DynamoDB, d.Tables, log)
}
