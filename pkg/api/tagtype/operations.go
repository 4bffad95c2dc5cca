package tagtype

import (
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
			Name:     "get-tag-types",
			Route:    "GET /api/admin/tag-types",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d)) },
		},
		{
			Name:     "get-tag-type",
			Route:    "GET /api/admin/tag-types/{name}",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "create-tag-type",
			Route:    "POST /api/admin/tag-types",
			Requires: access.Has(access.CreateTagType),
			Tables:   []string{accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d)) },
		},
		{
			Name:     "validate-tag-type",
			Route:    "POST /api/admin/tag-types/validate",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Validate(reader(d)) },
		},
		{
			Name:     "update-tag-type",
			Route:    "PUT /api/admin/tag-types/{name}",
			Requires: access.Has(access.UpdateTagType),
			Tables:   []string{accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d)) },
		},
		{
			Name:     "delete-tag-type",
			Route:    "DELETE /api/admin/tag-types/{name}",
			Requires: access.Has(access.DeleteTagType),
			Tables:   []string{accesstable.Table, featuretable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func reader(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, nil) }

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
