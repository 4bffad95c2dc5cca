package segment

import (
	"slices"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	written := []string{accesstable.Table, segmenttable.Table, contextfield.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-segments",
			Route:    "GET /api/admin/segments",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, segmenttable.Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return List(reader(d), user.NewNames(d.DynamoDB, d.Tables))
			},
		},
		{
			Name:     "create-segment",
			Route:    "POST /api/admin/segments",
			Requires: access.IsAnyone,
			Tables:   written,
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d), d.Now) },
		},
		{
			Name:     "get-segment",
			Route:    "GET /api/admin/segments/{id}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, segmenttable.Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Get(reader(d), user.NewNames(d.DynamoDB, d.Tables))
			},
		},
		{
			Name:     "update-segment",
			Route:    "PUT /api/admin/segments/{id}",
			Requires: access.IsAnyone,
			Tables:   append(slices.Clone(written), environment.Table, featuretable.Table),
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d)) },
		},
		{
			Name:     "remove-segment",
			Route:    "DELETE /api/admin/segments/{id}",
			Requires: access.IsAnyone,
			Tables:   append(slices.Clone(written), featuretable.Table),
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
		{
			Name:     "get-segment-strategies",
			Route:    "GET /api/admin/segments/{id}/strategies",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, segmenttable.Table, featuretable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return ListStrategies(reader(d), NewStrategies(d.DynamoDB, d.Tables))
			},
		},
	}
}

func reader(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, nil) }

func writer(d *app.Deps) *Store {
	log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
	return NewStore(d.DynamoDB, d.Tables, log)
}
