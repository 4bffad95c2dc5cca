package contextfield_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
	"toggleadmin/test/database"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h, features := newHandlers(t, store), feature.NewStore(db.Client, db.Tables)
	for _, name := range []string{"unused", "used"} {
		create(t, store, db, contextfield.ContextField{Name: name})
	}
	requireServed(t, h.delete, "unused", "", 200, "")
	requireServed(t, h.delete, "unused", "", 404, `NotFoundError: There is no context field with the name "unused".`)

	change := func(name string, change func(*feature.Feature)) error {
		_, err := features.Update(t.Context(), name, func(f feature.Feature) feature.Feature { change(&f); return f })
		return err
	}
	archive := func(f *feature.Feature) { f.Archived = true }
	restore := func(f *feature.Feature) { f.Archived = false }
	for i, project := range []string{"p", "p", "q"} {
		if err := features.Create(t.Context(), feature.Feature{Name: fmt.Sprint(i), Project: project, ContextFields: []string{"used"}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		requireServed(t, h.delete, "used", "", 409,
			fmt.Sprintf(`ConflictError: The context field "used" is in use. The number of toggles with a constraint on it, without archived ones, is %d.`, 3-i))
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
		features := feature.NewStore(db.Client, db.Tables)
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
		store := contextfield.NewStore(client, db.Tables)
		create(t, contextfield.NewStore(db.Client, db.Tables), db, contextfield.ContextField{Name: "a"})
		err := store.Delete(t.Context(), "a")
		if _, used := errors.AsType[*contextfield.InUseError](err); used != stays || !stays && err != nil {
			t.Errorf("the toggle stays: %t: %v", stays, err)
		}
	}
}

// No toggle is left with a field that is gone, whatever toggles' writes and the field's deletion and creation overlap.
func TestConcurrentDeletionAndUse(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	features := feature.NewStore(db.Client, db.Tables)
	var stopped atomic.Bool
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			name := fmt.Sprint(i)
			use := feature.Feature{Name: name, Project: name, ContextFields: []string{"a"}}
			for round := 0; !stopped.Load(); round++ {
				err := features.Create(t.Context(), use)
				if err == nil && round%2 == 0 {
					_, err = features.Update(t.Context(), name, func(f feature.Feature) feature.Feature { f.Archived = true; return f })
				}
				if err == nil {
					err = features.Delete(t.Context(), name)
				}
				if err != nil && !errors.Is(err, feature.ErrUnknownContextField) {
					t.Error(err)
					return
				}
			}
		})
	}
	deleted, used := 0, 0
	for !t.Failed() && (deleted < 3 || used < 3) {
		err := store.Create(t.Context(), contextfield.ContextField{Name: "a"})
		if err != nil && !errors.Is(err, contextfield.ErrExists) {
			t.Fatal(err)
		}
		_, inUse := errors.AsType[*contextfield.InUseError](store.Delete(t.Context(), "a"))
		if inUse {
			used++
			continue
		}
		deleted++
		all, err := features.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if !f.Archived {
				t.Errorf("the toggle %s uses a field that is gone", f.Name)
			}
		}
	}
	stopped.Store(true)
	writers.Wait()
}
