package contextfield_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// handlers are the handlers of all operations on one field.
type handlers struct{ get, create, update, delete lambdahttp.HandlerFunc }

func newHandlers(tb testing.TB, store *contextfield.Store) handlers {
	tb.Helper()
	create, err := contextfield.Create(store, now)
	if err != nil {
		tb.Fatal(err)
	}
	update, err := contextfield.Update(store)
	if err != nil {
		tb.Fatal(err)
	}
	return handlers{contextfield.Get(store), create, update, contextfield.Delete(store)}
}

// serve sends a request and returns the status, the headers, and the body or the message of the error. The name %FF is
// invalid.
func serve(ctx context.Context, handler lambdahttp.HandlerFunc, name, body string) (status int, header http.Header,
	text string) {
	r := httptest.NewRequest(http.MethodPost, "https://example.com/dev/api/admin/context/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if name != "%FF" {
		r.SetPathValue("name", name)
	}
	r = r.WithContext(lambdahttp.WithGateway(ctx, lambdahttp.Gateway{PathParameters: map[string]string{"name": name}}))
	w := httptest.NewRecorder()
	if err := handler(w, r); err != nil {
		e := apierror.From(err)
		return e.Kind.Status(), w.Header(), e.Kind.Name() + ": " + e.Message
	}
	return w.Code, w.Header(), w.Body.String()
}

// requireServed fails the test unless the response is this one.
func requireServed(tb testing.TB, handler lambdahttp.HandlerFunc, name, body string, status int, want string) {
	tb.Helper()
	if got, _, text := serve(tb.Context(), handler, name, body); got != status || text != want {
		tb.Errorf("%s %s: %d %s\nwant %d %s", name, body, got, text, status, want)
	}
}

func TestUnknownField(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	create(t, store, db, contextfield.ContextField{Name: "a"})
	for _, name := range []string{"A", "a ", "%FF", strings.Repeat("n", 256)} {
		sent := name[:min(100, len(name))]
		if sent != name {
			sent += "…"
		}
		for _, handler := range []lambdahttp.HandlerFunc{h.get, h.update, h.delete} {
			requireServed(t, handler, name, `{}`, 404, `NotFoundError: There is no context field with the name "`+sent+`".`)
		}
	}
	requireStored(t, store, contextfield.ContextField{Name: "a"})
}

// Without DynamoDB every operation is a 503, and its error names what failed.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := newHandlers(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for prefix, handler := range map[string]lambdahttp.HandlerFunc{
		`get context field "a": `: h.get, `create context field "a": `: h.create, `replace context field "a": `: h.update,
		`delete context field "a": `: h.delete,
	} {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"name":"a","sortOrder":1}`))
		r.Header.Set("Content-Type", "application/json")
		r.SetPathValue("name", "a")
		if err := handler(httptest.NewRecorder(), r); apierror.From(err).Kind != apierror.Unavailable ||
			!strings.HasPrefix(err.Error(), prefix) {
			t.Error(err)
		}
	}
	for _, handler := range []lambdahttp.HandlerFunc{h.create, h.update} {
		if status, _, text := serve(ctx, handler, "a", `{"name":"a"}`); status != 503 {
			t.Errorf("%d %s", status, text)
		}
	}
}
