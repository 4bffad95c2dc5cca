package feature_test

import (
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/assert"
)

// A toggle above the limit is not created. Archived toggles count, deleted ones do not.
func TestLimit(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	h := handlers(db.store)
	h.Handlers["create"] = feature.Create(db.store, 2, now)
	create := func(name string, want int) {
		t.Helper()
		h.ExpectStatus(t.Context(), t, "create", "p/", `{"name":"`+name+`"}`, want)
	}
	create("a", 201)
	create("b", 201)
	h.Expect(t.Context(), t, "archive", "p/a", "", "202")
	h.Expect(t.Context(), t, "create", "p/", `{"name":"c"}`,
		"403 NoAccessError: The maximum number of toggles (2), including archived ones, is reached. Delete one first.")
	h.Expect(t.Context(), t, "remove", "/a", "", "200")
	create("c", 201)
	assert.OK(t, db.store.CheckLimit(t.Context(), 0))
}
