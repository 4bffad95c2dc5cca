package featurelink

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	tables := []string{accesstable.Table, featuretable.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "create-feature-link",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/link",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   tables,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Add(feature.OpenStore(d), toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
		{
			Name:     "update-feature-link",
			Route:    "PUT /api/admin/projects/{projectId}/features/{featureName}/link/{linkId}",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(feature.OpenStore(d)) },
		},
		{
			Name:     "delete-feature-link",
			Route:    "DELETE /api/admin/projects/{projectId}/features/{featureName}/link/{linkId}",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Remove(feature.OpenStore(d)) },
		},
	}
}
