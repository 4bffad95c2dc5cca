package contextfield_test

import (
	"fmt"
	"net/http"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h, features := handlers(store), feature.NewStore(db.Client, db.Tables, db.Log())
	archive := func(name string, archived bool) error {
		_, err := features.Update(t.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
			f.Archived = archived
			return f, nil
		})
		return err
	}
	expect(t, h, []call{
		{"create", "", `{"name":"f","sortOrder":0}`, "201 " + plain("f", 0)},
		{"delete", "f", "", "200"},
		{"delete", "f", "", unknown("f")},
		{"create", "", `{"name":"f","sortOrder":0}`, "201 " + plain("f", 0)},
	})
	for i, project := range []string{"p", "p", "q"} {
		_, err := features.Create(t.Context(), toggle.Feature{
			Name:          fmt.Sprint(i),
			Project:       project,
			ContextFields: []string{"f"},
		})
		assert.OK(t, err)
	}
	for i := range 3 {
		h.Expect(t.Context(), t, "delete", "f", "", fmt.Sprintf(`409 ConflictError: The context field "f" is in use. `+
			`The number of toggles with a constraint on it, without archived ones, is %d, and the number of segments is 0: `+
			`%s.`, 3-i, []string{`"0", "1", "2"`, `"1", "2"`, `"2"`}[i]))
		assert.OK(t, archive(fmt.Sprint(i), true))
	}
	h.Expect(t.Context(), t, "delete", "f", "", "200")
	assert.Equal(t, apierror.Conflict, apierror.KindOf(archive("0", false)))
	h.Expect(t.Context(), t, "create", "", `{"name":"f","sortOrder":0}`, "201 "+plain("f", 0))
	assert.OK(t, archive("0", false))
	h.Expect(t.Context(), t, "list", "", "", `200 [{"name":"f","description":null,"stickiness":false,"sortOrder":0,`+
		`"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":1,"usedInProjects":1,"legalValues":[]}]`)
	assert.OK(t, features.Delete(t.Context(), "0", nil))
	h.Expect(t.Context(), t, "delete", "f", "", "200")
	// What is left is the version.
	left := db.Scan(t, db.Tables["ContextFields"])
	if len(left) != 1 || left[0].String("name") != "#version" {
		t.Error(left)
	}
}

// The preconditions of a deletion are compared before it is rejected because the field is in use.
func TestDeletePreconditions(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	create(t, store, contextfield.ContextField{Name: "f"})
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "get", Path: "f"})
	old, matching := h.With("If-Match", `"old"`), h.With("If-Match", header.Get("ETag"))
	old.Expect(t.Context(), t, "delete", "unknown", "", unknown("unknown"))
	old.Expect(t.Context(), t, "delete", "f", "", changed)
	for _, operation := range []string{"delete", "update"} {
		h.With("If-None-Match", "*").Expect(t.Context(), t, operation, "f", `{}`,
			"412 PreconditionFailed: The resource exists and matches `If-None-Match`.")
	}
	setReferences(t, db, references.ByProject{"p": 1})
	old.Expect(t.Context(), t, "delete", "f", "", changed)
	matching.ExpectStatus(t.Context(), t, "delete", "f", "", 409)
	setReferences(t, db, references.ByProject{})
	matching.Expect(t.Context(), t, "delete", "f", "", "200")
}

// A use that begins while the field is being deleted is noticed.
func TestDeleteIsSuperseded(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{false, true} {
		existing, db := newStore(t)
		features := feature.NewStore(db.Client, db.Tables, db.Log())
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == "TransactWriteItems" && c.N == 1 {
				_, err := features.Create(t.Context(), toggle.Feature{Name: "f", Project: "p", ContextFields: []string{"a"}})
				assert.OK(t, err)
				if !stays {
					assert.OK(t, features.Delete(t.Context(), "f", nil))
				}
			}
			return c.Pass()
		})
		store := contextfield.NewStore(client, db.Tables, db.LogThrough(client))
		create(t, existing, contextfield.ContextField{Name: "a"})
		err := store.Delete(access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleAdmin)), "a")
		if used := apierror.KindOf(err) == apierror.Conflict; used != stays || !stays && err != nil {
			t.Errorf("the toggle stays: %t: %v", stays, err)
		}
	}
}
