package client_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// token returns what is stored of a token.
func (f *fixture) stored(secret string) (clienttokentable.Token, bool) {
	f.Helper()
	parsed, ok := clienttokentable.ParseSecret(secret)
	assert.Equal(f, true, ok)
	token, ok, err := clienttokentable.Get(f.Context(), f.db.Client, f.db.Tables[clienttokentable.Table], parsed.Selector)
	assert.OK(f, err)
	return token, ok
}

// The last use of a token is at most an hour late. Each process writes it at most once an hour.
func TestSeenAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	backend, browser, unused := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend),
		f.token(clienttokentable.Backend)
	a, b := f.process(), f.process()
	poll(a, backend, "")
	poll(a, browser, "") // which is rejected
	first := f.now
	assertSeen := func(secret string, want *time.Time) {
		t.Helper()
		token, _ := f.stored(secret)
		assert.Equal(t, want, token.SeenAt)
	}
	assertSeen(backend, &first)
	assertSeen(browser, nil)
	call(a, "POST", "/edge/validate", "", `{"tokens":["`+browser+`","`+unused+`x"]}`)
	assertSeen(browser, &first)
	assertSeen(unused, nil)
	f.now = f.now.Add(time.Hour - time.Millisecond)
	poll(b, backend, "")
	assertSeen(backend, &first)
	f.now = f.now.Add(time.Millisecond)
	poll(b, backend, "")
	second := f.now
	assertSeen(backend, &second)
}

// A request does not fail if the last use of its token cannot be written, and the process does not repeat it in the
// same hour. A token that was deleted is not created again.
func TestSeenAtFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	secret, deleted := f.token(clienttokentable.Backend), f.token(clienttokentable.Backend)
	through, calls := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "UpdateItem" && c.N == 1 {
			return c.Refuse("AccessDeniedException")
		}
		if c.Operation == "UpdateItem" {
			parsed, _ := clienttokentable.ParseSecret(deleted)
			f.db.Delete(t, f.db.Tables[clienttokentable.Table], clienttokentable.Key(parsed.Selector))
		}
		return c.Pass()
	})
	h := f.processThrough(through, 0)
	assert.Equal(t, 200, poll(h, secret, "").status)
	assert.Equal(t, 200, poll(h, secret, "").status)
	assert.Equal(t, 1, strings.Count(calls.Calls(), "UpdateItem"))
	assert.Equal(t, 200, poll(h, deleted, "").status)
	_, exists := f.stored(deleted)
	assert.Equal(t, false, exists)
}
