package contextfield_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// TestEvents checks what each operation records. An update that changes nothing, a refused request, and a toggle that
// uses the field record nothing about the field.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9"})
	send := func(handler lambdahttp.HandlerFunc, body string, want int) {
		if status, _, text := serve(ada, handler, "plan", body); status != want {
			t.Errorf("%d %s", status, text)
		}
	}
	send(h.create, `{"name":"plan","legalValues":[{"value":"basic"},{"value":"pro","description":"d"}]}`, 201)
	send(h.create, `{"name":"plan"}`, 409)
	for range 2 {
		send(h.update, `{"description":"e","stickiness":true,"sortOrder":3}`, 200)
	}
	features := feature.NewStore(db.Client, db.Tables, db.Log())
	if err := features.Create(t.Context(),
		feature.Feature{Name: "a", Project: "p", ContextFields: []string{"plan"}}); err != nil {
		t.Fatal(err)
	}
	send(h.delete, "", 409)
	if err := features.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	send(h.delete, "", 200)
	send(h.create, `{"name":"plan"}`, 201)
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
	if diff := cmp.Diff(want, database.About(db.Events(t), "field:plan")); diff != "" {
		t.Error(diff)
	}
}

// TestEventsRise checks that a field that was deleted by a process whose clock is ahead is created by a later event.
func TestEventsRise(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ahead := contextfield.NewStore(db.Client, db.Tables,
		eventlog.New(db.Client, db.Tables, func() time.Time { return time.Now().Add(time.Hour) }, 0))
	f := contextfield.ContextField{Name: "f"}
	if err := errors.Join(store.Create(t.Context(), f), ahead.Delete(t.Context(), "f"),
		store.Create(t.Context(), f)); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, line := range db.Events(t) {
		kind, _, _ := strings.Cut(line, " ")
		types = append(types, kind)
	}
	if diff := cmp.Diff([]string{"context-field-created", "context-field-deleted", "context-field-created"},
		types); diff != "" {
		t.Error(diff)
	}
}
