package featuredependency

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
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
			Name:     "add-feature-dependency",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/dependencies",
			Requires: access.InProject(access.UpdateDependency),
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Add(feature.OpenStore(d)) },
		},
		{
			Name:     "delete-feature-dependency",
			Route:    "DELETE /api/admin/projects/{projectId}/features/{featureName}/dependencies/{parent}",
			Requires: access.InProject(access.UpdateDependency),
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Remove(feature.OpenStore(d)) },
		},
	}
}
