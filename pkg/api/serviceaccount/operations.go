package serviceaccount

import (
	"math"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
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
			Name:     "get-service-accounts",
			Route:    "GET /api/admin/service-account",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, pat.Table, accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				users, pats := readers(d)
				return List(users, pats, roles(d))
			},
		},
		{
			Name:     "create-service-account",
			Route:    "POST /api/admin/service-account",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, user.IdentifiersTable, accesstable.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				accounts := user.NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
				return Create(accounts, roles(d), d.Now, d.Number("MAX_SERVICE_ACCOUNTS", 1, math.MaxInt32))
			},
		},
		{
			Name:     "update-service-account",
			Route:    "PUT /api/admin/service-account/{id}",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, pat.Table, accesstable.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				users, pats := writers(d)
				return Update(users, pats, roles(d))
			},
		},
		{
			Name:     "delete-service-account",
			Route:    "DELETE /api/admin/service-account/{id}",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, user.IdentifiersTable, pat.Table, accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writers(d)) },
		},
	}
}

func roles(d *app.Deps) *role.Store { return role.NewStore(d.DynamoDB, d.Tables, nil) }

func readers(d *app.Deps) (*user.Store, *pat.Store) {
	return user.NewStore(d.DynamoDB, d.Tables, nil), pat.NewStore(d.DynamoDB, d.Tables, nil, nil)
}

func writers(d *app.Deps) (*user.Store, *pat.Store) {
	log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
	return user.NewStore(d.DynamoDB, d.Tables, log), pat.NewStore(d.DynamoDB, d.Tables, log, nil) // it creates no tokens
}
