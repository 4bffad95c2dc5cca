package client_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/database"
)

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
