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
			Tables:   []string{clienttokentable.Table, environment.Table, accesstable.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				limits := Limits{Tokens: int(d.Number("MAX_CLIENT_TOKENS", 1, MaxTokens)), Days: maxDays(d)}
				return Create(writer(d), d.Now, d.Random, limits)
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
			Tables:   []string{clienttokentable.Table, environment.Table, accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}

func maxDays(d *app.Deps) int { return int(d.Number("MAX_TOKEN_DAYS", 0, access.MaxDays)) }
