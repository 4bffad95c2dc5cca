package savedview_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/api/savedview"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// as returns the context of a request by an account.
func as(t *testing.T, account int64) context.Context {
	t.Helper()
	return access.WithPrincipal(t.Context(), access.UserPrincipal(account, access.RoleViewer))
}

func operations(store *savedview.Store) operation.Set {
	return operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"get": savedview.Get(store), "set": savedview.Set(store)}}
}

// Each account has views of its own, which end with it.
func TestViews(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := savedview.NewStore(db.Client, db.Tables)
	h := operations(store)
	const none, both = `200 {"views":[]}`, `200 {"views":[{"name":"A","query":""},{"name":"B","query":"type=IS:release&sortBy=name"}]}`
	h.Expect(as(t, 5), t, "get", "", "", none)
	h.Expect(as(t, 5), t, "set", "", `{"views":[{"name":" B ","query":"type=IS:release&sortBy=name"},{"name":"A","query":""}]}`, both)
	h.Expect(as(t, 5), t, "get", "", "", both)
	h.Expect(as(t, 6), t, "get", "", "", none)
	h.Expect(as(t, 5), t, "set", "", `{"views":[{"name":"A","query":""}]}`, `200 {"views":[{"name":"A","query":""}]}`)
	assert.OK(t, store.DeleteAccount(t.Context(), 5), store.DeleteAccount(t.Context(), 5))
	h.Expect(as(t, 5), t, "get", "", "", none)
}

func TestInvalidViews(t *testing.T) {
	t.Parallel()
	h := operations(savedview.NewStore(nil, nil))
	view := func(name, query string) string { return fmt.Sprintf(`{"views":[{"name":%q,"query":%q}]}`, name, query) }
	for body, want := range map[string]string{
		`{}`:          "`/body/views` property is required",
		view(" ", ""): "`/body/views/0/name` property must not be empty",
		`{"views":[{"name":"a","query":""},{"name":"a ","query":""}]}`: "`/body/views/1/name` property must be the name of one view; you sent \"a\"",
		view("a", "type=release"):                                      "`/body/views/0/query` property must be the query of a search of toggles: The `/query/type` parameter must begin",
		view("a", "type=%zz"):                                          "`/body/views/0/query` property must be the query of a search of toggles: invalid URL escape",
		view("a", "query=a b"):                                         "`/body/views/0/query` property must be percent-encoded",
		view("a", "query="+strings.Repeat("x", 1995)):                  "`/body/views/0/query` property must",
		`{"views":[` + strings.Repeat(`{"name":"a","query":""},`, 30) + `{"name":"b","query":""}]}`: "`/body/views` property must",
	} {
		status, _, text := h.Serve(as(t, 5), operation.Request{Operation: "set", Body: body})
		if status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%.100s: %d %s\nwant %s", body, status, text, want)
		}
	}
}

// A change that another one has overtaken is a 412. One that is repeated after its response was lost is not.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	h, ctx := operations(savedview.NewStore(db.Client, db.Tables)), as(t, 5)
	set := func(name, etag string) (status int, newETag string) {
		status, header, _ := h.With("If-Match", etag).Serve(ctx, operation.Request{
			Operation: "set", Body: `{"views":[{"name":"` + name + `","query":""}]}`,
		})
		return status, header.Get("ETag")
	}
	_, header, _ := h.Serve(ctx, operation.Request{Operation: "get"})
	empty := header.Get("ETag")
	status, first := set("a", empty)
	assert.Equal(t, 200, status)
	status, _ = set("b", empty)
	assert.Equal(t, 412, status)
	status, repeated := set("a", empty)
	assert.Equal(t, 200, status)
	assert.Equal(t, first, repeated)
	status, _ = set("b", first)
	assert.Equal(t, 200, status)
}

// Of two changes that have read the same views, the second one reads them again.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	ctx := as(t, 5)
	other := savedview.NewStore(db.Client, db.Tables)
	add := func(name string) func() {
		return func() { assert.OK(t, other.Replace(ctx, []savedview.View{{Name: name}}, nothing)) }
	}
	for _, before := range []string{"first", "second"} { // there is no item, then there is one
		var replaced []savedview.View
		store := savedview.NewStore(db.Before(t, "TransactWriteItems", 1, add(before)), db.Tables)
		assert.OK(t, store.Replace(ctx, []savedview.View{{Name: "after " + before}}, func(old []savedview.View) error {
			replaced = old
			return nil
		}))
		assert.Equal(t, []savedview.View{{Name: before}}, replaced)
	}
}

func nothing([]savedview.View) error { return nil }
