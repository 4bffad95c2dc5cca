package environment

import (
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package. Those that can delete an environment change toggles: package
// environmentremoval has them.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-all-environments",
			Route:    "GET /api/admin/environments",
			Requires: access.IsAnyone,
			Tables:   []string{Table, clienttokentable.Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d), d.Now) },
		},
		{
			Name:     "get-project-environments",
			Route:    "GET /api/admin/environments/project/{projectId}",
			Requires: access.SeesProject,
			Tables:   []string{Table, clienttokentable.Table, accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListOfProject(reader(d)) },
		},
		{
			Name:     "get-environment",
			Route:    "GET /api/admin/environments/{name}",
			Requires: access.IsAnyone,
			Tables:   []string{Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "update-environment",
			Route:    "PUT /api/admin/environments/update/{name}",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(OpenStore(d)) },
		},
		{
			Name:     "get-environment-freeze",
			Route:    "GET /api/admin/environments/{name}/freeze",
			Requires: access.IsAnyone,
			Tables:   []string{Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetFreeze(reader(d), d.Now) },
		},
		{
			Name:     "set-environment-freeze",
			Route:    "PUT /api/admin/environments/{name}/freeze",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetFreeze(OpenStore(d), d.Now) },
		},
		{
			Name:     "delete-environment-freeze",
			Route:    "DELETE /api/admin/environments/{name}/freeze",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return DeleteFreeze(OpenStore(d)) },
		},
	}
}

func reader(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, nil) }

// OpenStore returns the store of a function that changes environments.
func OpenStore(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
