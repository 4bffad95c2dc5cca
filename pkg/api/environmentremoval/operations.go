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
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(environment.OpenStore(d), feature.OpenStore(d))
			},
		},
		{
			Name:     "remove-environment",
			Route:    "DELETE /api/admin/environments/{name}",
			Requires: access.Has(access.Admin),
			Tables:   tables,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Delete(environment.OpenStore(d), feature.OpenStore(d))
			},
		},
	}
}
