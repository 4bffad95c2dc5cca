package serviceaccount

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/service-account.
func List(users *user.Store, pats *pat.Store, roles *role.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := list(r.Context(), users, pats)
		if err != nil {
			return err
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
