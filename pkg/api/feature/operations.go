package feature

import (
	"math"
	"slices"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	shown := []string{accesstable.Table, featuretable.Table, featuretype.Table, environment.Table, segmenttable.Table,
		usagetable.Table, user.Table}
	return []app.Operation{
		{
			Name:     "get-features",
			Route:    "GET /api/admin/projects/{projectId}/features",
			Requires: access.SeesProject,
			Tables:   shown,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(OpenReader(d).WithUsage(d.Now)) },
		},
		{
			Name:     "get-feature",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}",
			Requires: access.SeesProject,
			Tables:   shown,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(OpenReader(d).WithUsage(d.Now)) },
		},
		{
			Name:     "create-feature",
			Route:    "POST /api/admin/projects/{projectId}/features",
			Requires: access.InProject(access.CreateFeature),
			Tables: []string{accesstable.Table, featuretable.Table, featuretype.Table, environment.Table, segmenttable.Table,
				user.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(OpenStore(d), d.Number("MAX_FEATURES", 0, math.MaxInt32), d.Now,
					toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
		{
			Name:     "update-feature",
			Route:    "PUT /api/admin/projects/{projectId}/features/{featureName}",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   append(slices.Clone(shown), eventlog.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				features := OpenStore(d)
				features.Reader = features.Reader.WithUsage(d.Now)
				return Update(features)
			},
		},
		{
			Name:     "update-features",
			Route:    "PUT /api/admin/projects/{projectId}/features",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   []string{accesstable.Table, featuretable.Table, featuretype.Table, user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return UpdateAll(OpenStore(d)) },
		},
		{
			Name:     "stale-features",
			Route:    "POST /api/admin/projects/{projectId}/stale",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   []string{accesstable.Table, featuretable.Table, featuretype.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return MarkStale(OpenStore(d)) },
		},
		{
			Name:     "archive-feature",
			Route:    "DELETE /api/admin/projects/{projectId}/features/{featureName}",
			Requires: access.InProject(access.DeleteFeature),
			Tables:   append(StateTables(), featuretype.Table),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Archive(OpenStore(d)) },
		},
		{
			Name:     "revive-feature",
			Route:    "POST /api/admin/archive/revive/{featureName}",
			Requires: access.IsAnyone,
			Tables:   append(StateTables(), featuretype.Table),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Revive(OpenStore(d)) },
		},
		{
			Name:     "delete-feature",
			Route:    "DELETE /api/admin/archive/{featureName}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table, segmenttable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(OpenStore(d)) },
		},
		{
			Name:     "change-project",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/changeProject",
			Requires: access.InProject(access.MoveFeature),
			Tables:   append(StateTables(), featuretype.Table),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Move(OpenStore(d)) },
		},
		{
			Name:     "get-feature-lifecycle",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}/lifecycle",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, featuretable.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetLifecycle(OpenReader(d)) },
		},
		{
			Name:     "add-favorite-feature",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/favorites",
			Requires: access.IsUserInProject,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return AddFavorite(OpenReader(d)) },
		},
		{
			Name:     "remove-favorite-feature",
			Route:    "DELETE /api/admin/projects/{projectId}/features/{featureName}/favorites",
			Requires: access.IsUserInProject,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return RemoveFavorite(OpenReader(d)) },
		},
		{
			Name:     "clone-feature",
			Route:    "POST /api/admin/projects/{projectId}/features/{featureName}/clone",
			Requires: access.InProject(access.CreateFeature),
			Tables:   append(StateTables(), featuretype.Table, user.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Clone(OpenStore(d), d.Number("MAX_FEATURES", 0, math.MaxInt32), d.Now, toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
	}
}

// StateTables returns the tables of operations that change the state of toggles in environments.
func StateTables() []string {
	return []string{accesstable.Table, featuretable.Table, environment.Table, contextfield.Table, segmenttable.Table,
		eventlog.Table}
}

// OpenReader returns the reader of a function.
func OpenReader(d *app.Deps) *Reader { return NewReader(d.DynamoDB, d.Tables, d.Now) }

// OpenStore returns the store of a function that changes toggles.
func OpenStore(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
