package contextfield_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestEvents checks what each operation records. An update that changes nothing, a refused request, and a toggle that
// uses the field record nothing about the field.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9"})
	h.Run(ada, t, `
		create | | {"name":"plan","legalValues":[{"value":"basic"},{"value":"pro","description":"d"}]} | 201 {…
		create | | {"name":"plan"} | 409 …
		update | plan | {"description":"e","stickiness":true,"sortOrder":3} | 200 {…
		update | plan | {"description":"e","stickiness":true,"sortOrder":3} | 200 {…
	`)
	features := feature.NewStore(db.Client, db.Tables, db.Log())
	assert.OK(t, features.Create(t.Context(), feature.Feature{Name: "a", Project: "p", ContextFields: []string{"plan"}}))
	h.Run(ada, t, `delete | plan | | 409 …`)
	assert.OK(t, features.Delete(t.Context(), "a"))
	h.Run(ada, t, `
		delete | plan | | 200
		create | | {"name":"plan"} | 201 {…
	`)
	const (
		by    = " field:plan by Ada, user 1, token 9: "
		rest  = `,"createdAt":"2026-11-20T05:39:00.123Z","legalValues":[`
		first = `{"name":"plan","description":null,"stickiness":false,"sortOrder":0` + rest +
			`{"value":"basic"},{"value":"pro","description":"d"}]}`
		second  = `{"name":"plan","description":"e","stickiness":true,"sortOrder":3` + rest + `]}`
		created = `{"name":"plan","description":null,"stickiness":false,"sortOrder":0` + rest + `]}`
	)
	want := []string{
		"context-field-created" + by + first, "context-field-updated" + by + second + " before " + first,
		"context-field-deleted" + by + "before " + second, "context-field-created" + by + created,
	}
	assert.Equal(t, want, database.About(db.Events(t), "field:plan"))
}

// TestEventsRise checks that a field that was deleted by a process whose clock is ahead is created by a later event.
func TestEventsRise(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ahead := contextfield.NewStore(db.Client, db.Tables,
		eventlog.New(db.Client, db.Tables, func() time.Time { return time.Now().Add(time.Hour) }, 0))
	f := contextfield.ContextField{Name: "f"}
	assert.OK(t, errors.Join(store.Create(t.Context(), f), ahead.Delete(t.Context(), "f"), store.Create(t.Context(), f)))
	var types []string
	for _, line := range db.Events(t) {
		kind, _, _ := strings.Cut(line, " ")
		types = append(types, kind)
	}
	assert.Equal(t, []string{"context-field-created", "context-field-deleted", "context-field-created"}, types)
}
