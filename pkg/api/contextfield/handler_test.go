package contextfield_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// handlers returns the operations on a store.
func handlers(store *contextfield.Store) operation.Set {
	return operation.Set{Parameters: []string{"name"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": contextfield.Create(store, now), "update": contextfield.Update(store), "get": contextfield.Get(store),
		"list": contextfield.List(store), "delete": contextfield.Delete(store),
	}}
}

func TestUnknownField(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	handlers(store).Run(t.Context(), t, `
		create | | {"name":"a","sortOrder":1} | 201 {…
		get update delete | A | {} | 404 NotFoundError: There is no context field with the name "A".
		get update delete | "a " | {} | 404 NotFoundError: There is no context field with the name "a ".
		get update delete | %FF | {} | 404 NotFoundError: There is no context field with the name "%FF".
		get update delete | 101×n | {} | 404 NotFoundError: There is no context field with the name "100×n…".
		get update delete | #version | {} | 404 NotFoundError: There is no context field with the name "#version".
		get update delete | usage#a | {} | 404 NotFoundError: There is no context field with the name "usage#a".
		list | | | 200 [{"name":"a","description":null,"stickiness":false,"sortOrder":1,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[]}]
	`)
}

// Without DynamoDB every operation is a 503, and its error names what failed.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	handlers(store).Run(ctx, t, `
		get delete list | a | | 503 ServiceUnavailable: …
		create update | a | {"name":"a"} | 503 ServiceUnavailable: …
		create update | a | {"name":"a","sortOrder":1} | 503 ServiceUnavailable: …
	`)
	_, list := store.List(ctx)
	_, create := store.Create(ctx, contextfield.ContextField{Name: "a"})
	for prefix, err := range map[string]error{
		"list context fields: ":      list,
		`create context field "a": `: create,
		`delete context field "a": `: store.Delete(ctx, "a"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), prefix) {
			t.Error(err)
		}
	}
}
