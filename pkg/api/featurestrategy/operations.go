package featurestrategy

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
			Name:     "get-feature-strategies",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(feature.OpenReader(d)) },
		},
		{
			Name:     "add-feature-strategy",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies",
			Requires: access.InEnvironment(access.CreateStrategy),
			Tables:   feature.StateTables(),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(feature.OpenStore(d), toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
		{
			Name:     "get-feature-strategy",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(feature.OpenReader(d)) },
		},
		{
			Name:     "update-feature-strategy",
			Route:    "PUT /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}",
			Requires: access.InEnvironment(access.UpdateStrategy),
			Tables:   feature.StateTables(),
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(feature.OpenStore(d)) },
		},
		{
			Name:     "delete-feature-strategy",
			Route:    "DELETE /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}",
			Requires: access.InEnvironment(access.DeleteStrategy),
			Tables:   feature.StateTables(),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(feature.OpenStore(d)) },
		},
		{
			Name:     "set-strategy-sort-order",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/set-sort-order",
			Requires: access.InEnvironment(access.UpdateStrategy),
			Tables:   feature.StateTables(),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetOrder(feature.OpenStore(d)) },
		},
		{
			Name:     "get-all-strategies",
			Route:    "GET /api/admin/strategies",
			Requires: access.IsAnyone,
			Handler:  func(*app.Deps) lambdahttp.HandlerFunc { return ListTypes() },
		},
	}
}
