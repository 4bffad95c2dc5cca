package clienttoken

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	written := []string{clienttokentable.Table, environment.Table, accesstable.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-all-api-tokens",
			Route:    "GET /api/admin/api-tokens",
			Requires: access.Has(access.ReadClientToken),
			Tables:   []string{clienttokentable.Table, accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return List(NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "create-api-token",
			Route:    "POST /api/admin/api-tokens",
			Requires: access.Has(access.CreateClientToken),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(writer(d), d.Now, d.Random, limits(d))
			},
		},
		{
			Name:     "update-api-token",
			Route:    "PUT /api/admin/api-tokens/{token}",
			Requires: access.Has(access.UpdateClientToken),
			Tables:   []string{clienttokentable.Table, accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(writer(d), d.Now, maxDays(d)) },
		},
		{
			Name:     "delete-api-token",
			Route:    "DELETE /api/admin/api-tokens/{token}",
			Requires: access.Has(access.DeleteClientToken),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
		{
			Name:     "rotate-api-token",
			Route:    "POST /api/admin/api-tokens/{token}/rotate",
			Requires: access.Has(access.CreateClientToken),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Rotate(writer(d), d.Now, d.Random, maxTokens(d))
			},
		},
		{
			Name:     "get-project-api-tokens",
			Route:    "GET /api/admin/projects/{projectId}/api-tokens",
			Requires: access.InProject(access.ReadProjectToken),
			Tables:   []string{clienttokentable.Table, accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return ListOfProject(NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "create-project-api-token",
			Route:    "POST /api/admin/projects/{projectId}/api-tokens",
			Requires: access.InProject(access.CreateProjectToken),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return CreateInProject(writer(d), d.Now, d.Random, limits(d))
			},
		},
		{
			Name:     "rotate-project-api-token",
			Route:    "POST /api/admin/projects/{projectId}/api-tokens/{token}/rotate",
			Requires: access.InProject(access.CreateProjectToken),
			Tables:   written,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return RotateInProject(writer(d), d.Now, d.Random, maxTokens(d))
			},
		},
		{
			Name:     "delete-project-api-token",
			Route:    "DELETE /api/admin/projects/{projectId}/api-tokens/{token}",
			Requires: access.InProject(access.DeleteProjectToken),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return DeleteInProject(writer(d)) },
		},
	}
}

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}

func limits(d *app.Deps) Limits { return Limits{Tokens: maxTokens(d), Days: maxDays(d)} }

func maxTokens(d *app.Deps) int { return int(d.Number("MAX_CLIENT_TOKENS", 1, MaxTokens)) }

func maxDays(d *app.Deps) int { return int(d.Number("MAX_TOKEN_DAYS", 0, access.MaxDays)) }
