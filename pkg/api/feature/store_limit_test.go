package feature_test

import "testing"

// A toggle above the limit is not created. Archived toggles count, deleted ones do not.
func TestLimit(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	h := handlers(db.store)
	db.store.SetLimit(2)
	h.Run(t.Context(), t, `
		create | p/ | {"name":"a"} | 201 {…
		create | p/ | {"name":"b"} | 201 {…
		archive | p/a | | 202
		create | p/ | {"name":"c"} | 403 NoAccessError: The maximum number of toggles (2), including archived ones, is reached. Delete one first.
		remove | /a | | 200
		create | p/ | {"name":"c"} | 201 {…
	`)
	db.store.SetLimit(0)
	h.Run(t.Context(), t, `create | p/ | {"name":"d"} | 201 {…`)
	if err := db.store.CheckLimit(t.Context()); err != nil {
		t.Error(err)
	}
}
