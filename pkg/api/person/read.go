package person

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/platform/spelling"
)

// List serves GET /api/admin/user-admin: all people or, with ids, these. maxDays is how long what an ID token said about
// groups counts.
func List(
	users *user.Store, roles *role.Store, groups *accesstable.Reader, now func() time.Time, maxDays int64,
) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ids, err := user.QueryIDs[int64](r, "ids", "people")
		if err != nil {
			return err
		}
		accounts, err := accountsOf(r.Context(), users, ids)
		if err != nil {
			return err
		}
		rootRoles, err := roles.RootRoles(r.Context())
		if err != nil {
			return err
		}
		directory, err := groups.Directory(r.Context())
		if err != nil {
			return err
		}
		people := []inList{}
		for _, u := range accounts {
			if u.Kind != user.Person {
				continue
			}
			person := inList{user.NewResponse(u), u.Disabled, []int64{}, u.Identity}
			for _, g := range directory.MembersGroups(u.Groups, u.GroupValues(now(), maxDays)) {
				person.Groups = append(person.Groups, g.ID)
			}
			people = append(people, person)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Users     []inList        `json:"users"`
			RootRoles []role.Response `json:"rootRoles"`
		}{people, role.NewResponses(rootRoles)})
	}
}

// accountsOf returns the accounts with the ids or, without ids, all. They are ordered by id.
func accountsOf(ctx context.Context, users *user.Store, ids []int64) ([]user.User, error) {
	if len(ids) == 0 {
		return users.List(ctx)
	}
	found, err := users.Accounts(ctx, ids)
	return slices.SortedFunc(maps.Values(found), func(a, b user.User) int { return cmp.Compare(a.ID, b.ID) }), err
}

// Get serves GET /api/admin/user-admin/{id}.
func Get(users *user.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		u, err := users.Find(r.Context(), user.Person, id)
		if err != nil {
			return named(r, err)
		}
		w.Header().Set("ETag", u.ETag())
		return lambdahttp.WriteJSON(w, http.StatusOK, user.NewResponse(u))
	}
}

// minQuery is the number of characters of a text from which a search finds accounts.
const minQuery = 2

// maxQuery is the maximum number of characters of a text that is searched for.
const maxQuery = 255

// Search serves GET /api/admin/user-admin/search. It finds people and service accounts, which can have roles in projects
// and be members of groups.
func Search(users *user.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		q := query.Text("q", maxQuery)
		if err := query.Err(); err != nil {
			return err
		}
		found := []user.Response{}
		if len([]rune(q)) < minQuery {
			return lambdahttp.WriteJSON(w, http.StatusOK, found)
		}
		all, err := users.List(r.Context())
		if err != nil {
			return err
		}
		for _, u := range all {
			if spelling.Contains(u.Name, q) || spelling.Contains(u.Username, q) || spelling.Contains(u.Email, q) {
				found = append(found, user.NewResponse(u))
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, found)
	}
}
