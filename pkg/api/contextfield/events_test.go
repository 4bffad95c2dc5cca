package contextfield_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestEvents checks what each operation records. An update that changes nothing, a rejected request, and a toggle that
// uses the field record nothing about the field. The field is deleted by a process whose clock is ahead, and its second
// creation is still the later event.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9"})
	const (
		create = `{"name":"plan","legalValues":[{"value":"basic"},{"value":"pro","description":"d"}]}`
		update = `{"description":"e","stickiness":true,"sortOrder":3}`
	)
	h.ExpectStatus(ada, t, "create", "", create, 201)
	h.ExpectStatus(ada, t, "create", "", `{"name":"plan"}`, 409)
	h.ExpectStatus(ada, t, "update", "plan", update, 200)
	h.ExpectStatus(ada, t, "update", "plan", update, 200)
	features := feature.NewStore(db.Client, db.Tables, db.Log())
	_, err := features.Create(t.Context(), toggle.Feature{Name: "a", Project: "p", ContextFields: []string{"plan"}})
	assert.OK(t, err)
	h.ExpectStatus(ada, t, "delete", "plan", "", 409)
	assert.OK(t, features.Delete(t.Context(), "a", nil))
	ahead := eventlog.New(db.Client, db.Tables, func() time.Time { return time.Now().Add(time.Hour) }, 0)
	handlers(contextfield.NewStore(db.Client, db.Tables, ahead)).ExpectStatus(ada, t, "delete", "plan", "", 200)
	h.ExpectStatus(ada, t, "create", "", `{"name":"plan"}`, 201)
	const (
		by    = " field:plan by user 1, token 9: "
		rest  = `,"createdAt":"2026-11-20T05:39:00.123Z","legalValues":[`
		first = `{"name":"plan","description":null,"stickiness":false,"sortOrder":0` + rest +
			`{"value":"basic","description":null},{"value":"pro","description":"d"}]}`
		second  = `{"name":"plan","description":"e","stickiness":true,"sortOrder":3` + rest + `]}`
		created = `{"name":"plan","description":null,"stickiness":false,"sortOrder":0` + rest + `]}`
	)
	want := []string{
		"context-field-created" + by + first, "context-field-updated" + by + second + " before " + first,
		"context-field-deleted" + by + "before " + second, "context-field-created" + by + created,
	}
	assert.Equal(t, want, database.About(db.Events(t), "field:plan"))
}
