package tokenlist

import (
	"net/http"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-tokens",
			Route:    "GET /api/admin/tokens",
			Requires: access.Has(access.Admin),
			Tables:   []string{apitoken.Table, pat.Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return List(Stores{
					Users:     user.NewStore(d.DynamoDB, d.Tables, nil),
					APITokens: apitoken.NewStore(d.DynamoDB, d.Tables, nil),
					PATs:      pat.NewStore(d.DynamoDB, d.Tables, nil, nil),
				}, d.Now)
			},
		},
	}
}

// maxID is the maximum number of characters of an id.
const maxID = 20

// List serves GET /api/admin/tokens: all tokens or, with userId, those of an account.
func List(stores Stores, now func() time.Time) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		id, ok := access.ParseID(query.Text("userId", maxID))
		if !ok && query.Has("userId") {
			query.Reject("userId", "must be the id of a person or a service account")
		}
		if err := query.Err(); err != nil {
			return err
		}
		var tokens []Token
		var err error
		if ok {
			tokens, err = stores.ListOf(r.Context(), id, now())
		} else {
			tokens, err = stores.List(r.Context(), now())
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Tokens []Token `json:"tokens"`
		}{tokens})
	}
}
