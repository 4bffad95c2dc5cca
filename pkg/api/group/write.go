package group

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

// edit sets what a body contains.
func edit(g *accesstable.Group, body jsonbody.Object) {
	g.Name = strings.TrimSpace(body.Text("name"))
	if body.Has("description") {
		g.Description = nil
		if text, ok := body.TextOK("description"); ok {
			g.Description = &text
		}
	}
	if body.Has("mappingsSSO") {
		g.Mappings = body.Texts("mappingsSSO")
	}
	if body.Has("rootRole") {
		id, _ := body.Int("rootRole") // null: 0
		g.RootRole = access.Role(id)
	}
	if body.Has("users") {
		g.Members = nil
		for _, sent := range body.Objects("users") {
			account, _ := sent["user"].(map[string]any)
			id, _ := jsonbody.Object(account).Int("id")
			g.Members = append(g.Members, id)
		}
		slices.Sort(g.Members)
		g.Members = slices.Compact(g.Members)
	}
}

// Create serves POST /api/admin/groups.
func Create(groups *Store, users *user.Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, jsonbody.ReadableName(toggle.IsReadable))
		if err != nil {
			return err
		}
		next := accesstable.Group{CreatedAt: new(datetime.Milliseconds(now()))}
		edit(&next, body)
		created, err := groups.Create(r.Context(), next)
		if err != nil {
			return err
		}
		shown, err := withMembers(r.Context(), users, created)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(fmt.Sprint(created.ID)).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, shown)
	}
}

// Update serves PUT /api/admin/groups/{groupId}.
func Update(groups *Store, users *user.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, jsonbody.ReadableName(toggle.IsReadable))
		if err != nil {
			return err
		}
		id, err := pathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		updated, err := groups.Update(r.Context(), id, func(g *accesstable.Group) error {
			if err := preconditions.Check(etag(*g)); err != nil {
				return err
			}
			edit(g, body)
			return nil
		})
		if err != nil {
			return err
		}
		shown, err := withMembers(r.Context(), users, updated)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, shown)
	}
}

// Delete serves DELETE /api/admin/groups/{groupId}.
func Delete(groups *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return groups.Delete(r.Context(), id, func(g accesstable.Group) error { // nil: 200 without a body
			return preconditions.Check(etag(g))
		})
	}
}
