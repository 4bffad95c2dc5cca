package contextfield_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
)

// Whatever texts fields contain, the list is not larger than the limit, nor much smaller when a field is refused.
func TestLimit(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	const limit = 20_000
	store = store.Limited(limit)
	h := handlers(store)
	refused := fmt.Sprintf(
		"NoAccessError: The list of all context fields may have at most %d bytes. Delete fields or legal values first.",
		limit)
	text := strings.Repeat(`\"\\<&>\u2028\u0001ü`, 40)
	request := func(operationName, name string, values int) operation.Request {
		var legal []string
		for i := range values {
			legal = append(legal, fmt.Sprintf(`{"value":"%d","description":"%s"}`, i, text))
		}
		return operation.Request{Operation: operationName, Path: name, Body: fmt.Sprintf(
			`{"name":%q,"sortOrder":1,"description":"%s","legalValues":[%s]}`, name, text, strings.Join(legal, ","))}
	}
	created, status, got := 0, 0, ""
	for ; status < http.StatusBadRequest; created++ {
		status, _, got = h.Serve(t.Context(), request("create", fmt.Sprint(created), 1))
	}
	assert.Equal(t, refused, got)
	_, _, list := h.Serve(t.Context(), operation.Request{Operation: "list"})
	response, err := lambdahttp.EncodeJSON(list) // as Lambda does
	assert.OK(t, err)
	if n := len(response); n > limit || n < limit*3/4 {
		t.Errorf("%d bytes with %d fields, want at most %d", n, created, limit)
	}
	h.Want(t.Context(), t, request("create", "0", 1), "403 "+refused) // before 409
	h.Want(t.Context(), t, request("update", "0", 5), "403 "+refused)
	// a field of the same size, or a smaller one, is not refused
	h.Want(t.Context(), t, request("update", "0", 1), "200 {…")
	h.Want(t.Context(), t, request("update", "0", 0), "200 {…")
	h.Want(t.Context(), t, request("delete", "1", 0), "200")
	h.Want(t.Context(), t, request("update", "0", 1), "200 {…")
	requireTotal(t, db)
}

// requireTotal fails the test unless the stored sum is that of the fields' sizes.
func requireTotal(tb testing.TB, db *database.Database) {
	tb.Helper()
	var sum int64
	for _, item := range db.Scan(tb, db.Tables.ContextFields) {
		if item.String("name") != "#total" {
			sum += item.Int("size")
		}
	}
	got := db.Get(tb, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("#total")}).Int("size")
	if got != sum {
		tb.Errorf("the sum is %d, want %d", got, sum)
	}
}
