package serviceaccount

import (
	"context"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/service-account. With the parameter disabled, it serves only accounts that are disabled, or
// only others: elements have no such property, because Unleash's Terraform provider rejects those that it does not know.
func List(users *user.Store, pats *pat.Store, roles *role.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		disabled := query.OneOf("disabled", "all", "true", "false")
		if err := query.Err(); err != nil {
			return err
		}
		all, err := list(r.Context(), users, pats)
		if err != nil {
			return err
		}
		if disabled != "all" {
			all = slices.DeleteFunc(all, func(a Account) bool { return a.Disabled != (disabled == "true") })
		}
		rootRoles, err := roles.RootRoles(r.Context())
		if err != nil {
			return err
		}
		body := struct {
			ServiceAccounts []response      `json:"serviceAccounts"`
			RootRoles       []role.Response `json:"rootRoles"`
		}{make([]response, len(all)), role.NewResponses(rootRoles)}
		for i, a := range all {
			body.ServiceAccounts[i] = newResponse(a)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// list returns all service accounts, ordered by id. It reads both tables at the same time, by one consistent Scan per MB
// each.
func list(ctx context.Context, users *user.Store, pats *pat.Store) ([]Account, error) {
	var accounts []user.User
	var tokens []pat.PAT
	var reads errgroup.Group
	reads.Go(func() (err error) {
		accounts, err = users.List(ctx)
		return err
	})
	reads.Go(func() (err error) {
		tokens, err = pats.List(ctx)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	of := map[int64][]pat.PAT{}
	for _, t := range tokens {
		of[t.UserID] = append(of[t.UserID], t)
	}
	var all []Account
	for _, u := range accounts {
		if u.Kind == user.ServiceAccount {
			all = append(all, Account{u, of[u.ID]})
		}
	}
	return all, nil
}
