package contextfield

import (
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
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
			Name:     "get-context-fields",
			Route:    "GET /api/admin/context",
			Requires: access.IsAnyone,
			Tables:   []string{Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d)) },
		},
		{
			Name:     "create-context-field",
			Route:    "POST /api/admin/context",
			Requires: access.Has(access.CreateFieldPermission),
			Tables:   []string{Table, eventlog.Table},
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d), d.Now) },
		},
		{
			Name:     "get-context-field",
			Route:    "GET /api/admin/context/{name}",
			Requires: access.IsAnyone,
			Tables:   []string{Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "update-context-field",
			Route:    "PUT /api/admin/context/{name}",
			Requires: access.Has(access.UpdateFieldPermission),
			Tables:   []string{Table, accesstable.Table, featuretable.Table, segmenttable.Table, eventlog.Table},
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d)) },
		},
		{
			Name:     "delete-context-field",
			Route:    "DELETE /api/admin/context/{name}",
			Requires: access.Has(access.DeleteFieldPermission),
			Tables:   []string{Table, accesstable.Table, featuretable.Table, segmenttable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func reader(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, nil) }

func writer(d *app.Deps) *Store {
	log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
	return NewStore(d.DynamoDB, d.Tables, log)
}
