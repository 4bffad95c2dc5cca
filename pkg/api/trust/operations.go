package trust

import (
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
			Name:     "get-service-account-trusts",
			Route:    "GET /api/admin/service-account/{id}/trust",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return List(NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "create-service-account-trust",
			Route:    "POST /api/admin/service-account/{id}/trust",
			Requires: access.Has(access.Admin),
			Tables:   []string{user.Table, accesstable.Table, eventlog.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				people := People{Issuer: d.Vars["OIDC_ISSUER"], ClientID: d.Vars["OIDC_CLIENT_ID"], Loopback: d.Local}
				return Create(writer(d), d.Now, people)
			},
		},
		{
			Name:     "delete-service-account-trust",
			Route:    "DELETE /api/admin/service-account/{id}/trust/{trustId}",
			Requires: access.Has(access.Admin),
			Tables:   []string{accesstable.Table, eventlog.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
	}
}

func writer(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
