package client_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// A process uses a new snapshot after FreshnessMilliseconds, whoever asks: requests with a token that is not valid read
// the pointer, too.
func TestRequestsWithInvalidTokensUseNewSnapshots(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token, expired := f.token(clienttokentable.Backend), f.expiring(new(f.now), clienttokentable.Backend)
	unknown := token[:len(token)-43] + expired[len(expired)-43:]
	for name, invalid := range map[string]string{"expired": expired, "unknown": unknown} {
		process := f.processThrough(f.db.Client, 250*time.Millisecond)
		tag := poll(process, token, "").header.Get("ETag")
		f.put("shop", name, toggle.Strategy{})
		f.compile()
		f.now = f.now.Add(250 * time.Millisecond)
		assert.Equal(t, http.StatusUnauthorized, poll(process, invalid, "").status)
		f.now = f.now.Add(249 * time.Millisecond)
		if got := poll(process, token, tag); got.status != http.StatusOK {
			t.Errorf("after a request with an %s token, the response is %d, and has nothing new", name, got.status)
		}
	}
}

// While the pointer needs no read, a request does not wait for the tokens of others.
func TestRequestsDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token := f.token(clienttokentable.Backend)
	var holds atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	slow, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if holds.CompareAndSwap(true, false) {
			close(held)
			<-release
		}
		return c.Pass()
	})
	process := f.processThrough(slow, time.Minute)
	poll(process, token, "")
	holds.Store(true)
	first := make(chan int)
	go func() { first <- poll(process, token, "").status }()
	<-held
	if second := poll(process, token, "").status; second != http.StatusOK {
		t.Errorf("the second request: %d", second)
	}
	close(release)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first request: %d", status)
	}
}
