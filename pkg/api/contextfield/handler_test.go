package contextfield_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// handlers returns the operations on a store.
func handlers(store *contextfield.Store) operation.Set {
	return operation.Set{Parameters: []string{"name"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": contextfield.Create(store, now), "update": contextfield.Update(store), "get": contextfield.Get(store),
		"list": contextfield.List(store), "delete": contextfield.Delete(store),
	}}
}

// call is a call of an operation.
type call struct {
	operation string
	name      string // of the field
	body      string
	want      string // the status and the whole response, or the name and the message of the error
}

// expect makes calls one after the other.
func expect(t *testing.T, h operation.Set, calls []call) {
	t.Helper()
	for _, c := range calls {
		h.Expect(t.Context(), t, c.operation, c.name, c.body, c.want)
	}
}

// plain returns how responses show a field that only has a sort order, which was created at now and is not used.
func plain(name string, sortOrder int64) string { return described(name, "null", sortOrder, "") }

// described is plain for a field with a description, as JSON, and legal values.
func described(name, description string, sortOrder int64, legalValues string) string {
	return fmt.Sprintf(`{"name":%q,"description":%s,"stickiness":false,"sortOrder":%d,`+
		`"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[%s]}`,
		name, description, sortOrder, legalValues)
}

// unknown is the response of an operation on a field that does not exist.
func unknown(name string) string {
	return fmt.Sprintf("404 NotFoundError: There is no context field with the name %q.", name)
}

// exists is the response of the creation of a field that exists.
func exists(name string) string {
	return fmt.Sprintf("409 NameExistsError: A context field with the name %q exists.", name)
}

const changed = "412 PreconditionFailed: The resource has changed since you read it. Read it again and repeat the change."

func TestUnknownField(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	h.Expect(t.Context(), t, "create", "", `{"name":"a","sortOrder":1}`, "201 "+plain("a", 1))
	for _, operation := range []string{"get", "update", "delete"} {
		for _, name := range []string{"A", "a ", "%FF", "#version", "references#a"} {
			h.Expect(t.Context(), t, operation, name, `{}`, unknown(name))
		}
		h.Expect(t.Context(), t, operation, strings.Repeat("n", 101), `{}`, unknown(strings.Repeat("n", 100)+"…"))
	}
	h.Expect(t.Context(), t, "list", "", "", "200 ["+plain("a", 1)+"]")
}

// Without DynamoDB every operation is a 503, and its error names what failed.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, operation := range []string{"get", "delete", "list"} {
		h.ExpectStatus(ctx, t, operation, "a", "", 503)
	}
	for _, operation := range []string{"create", "update"} {
		h.ExpectStatus(ctx, t, operation, "a", `{"name":"a"}`, 503)
		h.ExpectStatus(ctx, t, operation, "a", `{"name":"a","sortOrder":1}`, 503)
	}
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
