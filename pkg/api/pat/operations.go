package pat

import (
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-service-account-tokens",
			Route:    "GET /api/admin/service-account/{id}/token",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, user.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d)) },
		},
		{
			Name:     "create-service-account-token",
			Route:    "POST /api/admin/service-account/{id}/token",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d), d.Now, limits(d)) },
		},
		{
			Name:     "get-service-account-token",
			Route:    "GET /api/admin/service-account/{id}/token/{tokenId}",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, user.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "delete-service-account-token",
			Route:    "DELETE /api/admin/service-account/{id}/token/{tokenId}",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table, user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
		{
			Name:     "get-pats",
			Route:    "GET /api/admin/user/tokens",
			Requires: access.IsUser,
			Tables:   []string{Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListOwn(reader(d)) },
		},
		{
			Name:     "create-pat",
			Route:    "POST /api/admin/user/tokens",
			Requires: access.IsUser,
			Tables:   []string{Table, user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return CreateOwn(writer(d), d.Now, limits(d)) },
		},
		{
			Name:     "delete-pat",
			Route:    "DELETE /api/admin/user/tokens/{id}",
			Requires: access.IsUser,
			Tables:   []string{Table, user.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return DeleteOwn(writer(d)) },
		},
	}
}

func reader(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, nil, nil) }

func writer(d *app.Deps) *Store {
	log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
	return NewStore(d.DynamoDB, d.Tables, log, d.Random)
}

func limits(d *app.Deps) Limits {
	return Limits{
		PerAccount: int(d.Number("MAX_TOKENS_PER_ACCOUNT", 1, MostPerOwner)),
		Days:       int(d.Number("MAX_TOKEN_DAYS", 0, access.MaxDays)),
	}
}
