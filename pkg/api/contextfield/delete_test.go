package contextfield_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h, features := handlers(store), feature.NewStore(db.Client, db.Tables, db.Log())
	archive := func(name string, archived bool) error {
		_, err := features.Update(t.Context(), name, func(f feature.Feature) (feature.Feature, error) {
			f.Archived = archived
			return f, nil
		})
		return err
	}
	h.Run(t.Context(), t, `
		create | | {"name":"f","sortOrder":0} | 201 {…
		delete | f | | 200
		delete | f | | 404 NotFoundError: There is no context field with the name "f".
		create | | {"name":"f","sortOrder":0} | 201 {…
	`)
	for i, project := range []string{"p", "p", "q"} {
		assert.OK(t, features.Create(t.Context(), feature.Feature{Name: fmt.Sprint(i), Project: project,
			ContextFields: []string{"f"}}))
	}
	for i := range 3 {
		h.Run(t.Context(), t, fmt.Sprintf(`delete | f | | 409 ConflictError: The context field "f" is in use. The number `+
			`of toggles with a constraint on it, without archived ones, is %d.`, 3-i))
		assert.OK(t, archive(fmt.Sprint(i), true))
	}
	h.Run(t.Context(), t, `delete | f | | 200`)
	assert.ErrorIs(t, archive("0", false), feature.ErrUnknownContextField)
	h.Run(t.Context(), t, `create | | {"name":"f","sortOrder":0} | 201 {"name":"f","description":null,"stickiness":false,`+
		`"sortOrder":0,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`)
	assert.OK(t, archive("0", false))
	requireTotal(t, db)
}

// A use that begins and ends while the field is being deleted is noticed.
func TestDeleteIsOvertaken(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{false, true} {
		existing, db := newStore(t)
		features := feature.NewStore(db.Client, db.Tables, db.Log())
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == "TransactWriteItems" && c.N < 3 {
				name := fmt.Sprint(c.N)
				assert.OK(t, features.Create(t.Context(), feature.Feature{Name: name, Project: name, ContextFields: []string{"a"}}))
				if !stays || c.N == 1 {
					assert.OK(t, features.Delete(t.Context(), name))
				}
			}
			return c.Pass()
		})
		store := contextfield.NewStore(client, db.Tables, db.LogThrough(client))
		create(t, existing, contextfield.ContextField{Name: "a"})
		err := store.Delete(t.Context(), "a")
		if _, used := errors.AsType[*contextfield.InUseError](err); used != stays || !stays && err != nil {
			t.Errorf("the toggle stays: %t: %v", stays, err)
		}
	}
}
