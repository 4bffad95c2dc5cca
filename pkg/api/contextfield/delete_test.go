package contextfield_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/database"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h, features := newHandlers(t, store), feature.NewStore(db.Client, db.Tables, db.Log())
	for _, name := range []string{"unused", "used"} {
		create(t, store, db, contextfield.ContextField{Name: name})
	}
	requireServed(t, h.delete, "unused", "", 200, "")
	requireServed(t, h.delete, "unused", "", 404, `NotFoundError: There is no context field with the name "unused".`)

	change := func(name string, change func(*feature.Feature)) error {
		_, err := features.Update(t.Context(), name, func(f feature.Feature) (feature.Feature, error) {
			change(&f)
			return f,
				nil
		})
		return err
	}
	archive := func(f *feature.Feature) { f.Archived = true }
	restore := func(f *feature.Feature) { f.Archived = false }
	for i, project := range []string{"p", "p", "q"} {
		if err := features.Create(t.Context(), feature.Feature{Name: fmt.Sprint(i), Project: project,
			ContextFields: []string{"used"}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		requireServed(t, h.delete, "used", "", 409,
			fmt.Sprintf(`ConflictError: The context field "used" is in use. The number of toggles with a constraint on it, `+
				`without archived ones, is %d.`, 3-i))
		if err := change(fmt.Sprint(i), archive); err != nil {
			t.Fatal(err)
		}
	}
	requireServed(t, h.delete, "used", "", 200, "")
	if err := change("0", restore); !errors.Is(err, feature.ErrUnknownContextField) {
		t.Errorf("restored: %v", err)
	}
	requireServed(t, h.create, "", `{"name":"used","sortOrder":0}`, 201,
		`{"name":"used","description":null,"stickiness":false,"sortOrder":0,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`)
	if err := change("0", restore); err != nil {
		t.Error(err)
	}
}

// Creations and deletions leave nothing behind.
func TestRounds(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	for range 100 {
		if status, _, text := serve(t.Context(), h.create, "", `{"name":"round"}`); status != http.StatusCreated {
			t.Fatal(text)
		}
		requireServed(t, h.delete, "round", "", 200, "")
	}
	if items := db.Scan(t, db.Tables.ContextFields); len(items) != 1 || items[0].Int("size") != 0 { // the sum of the sizes
		t.Error(items)
	}
}

// A use that begins and ends while the field is being deleted is noticed.
func TestDeleteIsOvertaken(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{false, true} {
		_, db := newStore(t)
		features := feature.NewStore(db.Client, db.Tables, db.Log())
		round := 0
		client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation != "TransactWriteItems" || round == 2 {
				return c.Pass()
			}
			round++
			name := fmt.Sprint(round)
			err := features.Create(t.Context(), feature.Feature{Name: name, Project: name, ContextFields: []string{"a"}})
			if err == nil && !(stays && round == 2) {
				err = features.Delete(t.Context(), name)
			}
			if err != nil {
				return nil, err
			}
			return c.Pass()
		})
		store := contextfield.NewStore(client, db.Tables, db.LogThrough(client))
		create(t, contextfield.NewStore(db.Client, db.Tables, db.Log()), db, contextfield.ContextField{Name: "a"})
		err := store.Delete(t.Context(), "a")
		if _, used := errors.AsType[*contextfield.InUseError](err); used != stays || !stays && err != nil {
			t.Errorf("the toggle stays: %t: %v", stays, err)
		}
	}
}
