package featuretag

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	written := []string{accesstable.Table, featuretable.Table, featuretype.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-tags",
			Route:    "GET /api/admin/tags",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListAll(NewStore(d.DynamoDB, d.Tables)) },
		},
		{
			Name:     "get-tags-by-type",
			Route:    "GET /api/admin/tags/{type}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListOfType(NewStore(d.DynamoDB, d.Tables)) },
		},
		{
			Name:     "get-tag",
			Route:    "GET /api/admin/tags/{type}/{value}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(NewStore(d.DynamoDB, d.Tables)) },
		},
		{
			Name:     "list-tags",
			Route:    "GET /api/admin/features/{featureName}/tags",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(feature.OpenReader(d)) },
		},
		{
			Name:     "add-tag",
			Route:    "POST /api/admin/features/{featureName}/tags",
			Requires: access.IsAnyone,
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Add(feature.OpenStore(d)) },
		},
		{
			Name:     "update-tags",
			Route:    "PUT /api/admin/features/{featureName}/tags",
			Requires: access.IsAnyone,
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(feature.OpenStore(d)) },
		},
		{
			Name:     "remove-tag",
			Route:    "DELETE /api/admin/features/{featureName}/tags/{type}/{value}",
			Requires: access.IsAnyone,
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Remove(feature.OpenStore(d)) },
		},
		{
			Name:     "add-tag-to-features",
			Route:    "PUT /api/admin/projects/{projectId}/tags",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return UpdateAll(feature.OpenStore(d)) },
		},
	}
}
