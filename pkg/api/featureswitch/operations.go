package featureswitch

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-feature-environment",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(feature.OpenReader(d)) },
		},
		{
			Name:     "toggle-feature-environment-on",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on",
			Requires: access.InEnvironment(access.UpdateEnvironment),
			Tables:   feature.StateTables(),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return TurnOn(feature.OpenStore(d), toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
		{
			Name:     "toggle-feature-environment-off",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off",
			Requires: access.InEnvironment(access.UpdateEnvironment),
			Tables:   feature.StateTables(),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return TurnOff(feature.OpenStore(d)) },
		},
		{
			Name:     "bulk-toggle-features-environment-on",
			Route:    "POST /api/admin/projects/{projectId}/bulk_features/environments/{environment}/on",
			Requires: access.InEnvironment(access.UpdateEnvironment),
			Tables:   feature.StateTables(),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return TurnOnAll(feature.OpenStore(d), toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
		{
			Name:     "bulk-toggle-features-environment-off",
			Route:    "POST /api/admin/projects/{projectId}/bulk_features/environments/{environment}/off",
			Requires: access.InEnvironment(access.UpdateEnvironment),
			Tables:   feature.StateTables(),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return TurnOffAll(feature.OpenStore(d)) },
		},
	}
}
