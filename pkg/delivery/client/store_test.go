package client_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
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

// After a read that has failed, a process answers with what it has read before, and reads again after two seconds.
func TestPauseAfterAFailedRead(t *testing.T) {
	t.Parallel()
	parts := func(c *database.Call) bool { return strings.Contains(c.Body, "part#") }
	for name, test := range map[string]struct {
		cold    bool // it has read nothing before
		refuses func(*database.Call) bool
		status  int
		calls   int
	}{
		"everything":         {false, func(*database.Call) bool { return true }, http.StatusNotModified, 1},
		"the parts":          {false, parts, http.StatusNotModified, 11}, // the token is read with each request
		"the parts, at once": {true, parts, http.StatusServiceUnavailable, 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.compile()
			token := f.token(clienttokentable.Backend)
			var refuses atomic.Bool
			through, calls := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
				if refuses.Load() && test.refuses(c) {
					return c.Refuse("AccessDeniedException")
				}
				return c.Pass()
			})
			process := f.processThrough(through, 250*time.Millisecond)
			tag := ""
			if !test.cold {
				tag = poll(process, token, "").header.Get("ETag")
			}
			f.put("shop", "a", toggle.Strategy{})
			f.compile()
			f.now = f.now.Add(time.Second)
			refuses.Store(true)
			before := strings.Count(calls.Calls(), "BatchGetItem")
			for range 10 {
				assert.Equal(t, test.status, poll(process, token, tag).status)
				f.now = f.now.Add(199 * time.Millisecond)
			}
			assert.Equal(t, test.calls, strings.Count(calls.Calls(), "BatchGetItem")-before)
			refuses.Store(false)
			assert.Equal(t, test.status, poll(process, token, tag).status)
			f.now = f.now.Add(10 * time.Millisecond)
			assert.Equal(t, http.StatusOK, poll(process, token, tag).status)
		})
	}
}

// DynamoDB can return the pointer, and throttle the read of the token. The snapshot is used, and the tokens of others
// are read.
func TestThrottledToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token, throttled := f.token(clienttokentable.Backend), f.token(clienttokentable.Backend)
	selector := func(text string) access.Selector {
		secret, _ := clienttokentable.ParseSecret(text)
		return secret.Selector
	}
	var throttles atomic.Bool
	through, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if throttles.Load() && strings.Contains(c.Body, selector(throttled).String()) {
			return throttle(t, c, f.db.Tables[clienttokentable.Table])
		}
		return c.Pass()
	})
	process := f.processThrough(through, 250*time.Millisecond)
	tag := poll(process, token, "").header.Get("ETag")
	poll(process, throttled, "")
	throttles.Store(true)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	f.now = f.now.Add(250 * time.Millisecond)
	assert.Equal(t, http.StatusOK, poll(process, throttled, tag).status)
	f.db.Delete(t, f.db.Tables[clienttokentable.Table], clienttokentable.Key(selector(token)))
	assert.Equal(t, http.StatusUnauthorized, poll(process, token, tag).status)
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

// A token of another installation is read like others. One whose text names no environment, or another one, costs a
// second read in the first request of a process.
func TestImportedToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	for text, first := range map[string]int{
		"*:production.aabbccddeeff00112233445566778899":     1,
		"shop:development.aabbccddeeff00112233445566778899": 2,
		"aabbccddeeff00112233445566778899":                  2,
	} {
		through, calls := f.db.Through(t, (*database.Call).Pass)
		process := f.processThrough(through, 0)
		reads := func() int { return strings.Count(calls.Calls(), "BatchGetItem") }
		assert.Equal(t, http.StatusUnauthorized, poll(process, text, "").status)
		secret, _ := clienttokentable.ParseImported(text)
		f.db.Put(t, f.db.Tables[clienttokentable.Table], clienttokentable.Marshal(clienttokentable.Import(
			clienttokentable.Token{Name: "t", Type: clienttokentable.Backend, Environment: "production", CreatedAt: f.now}, secret)))
		before := reads()
		got := poll(process, text, "")
		const snapshot = 1
		assert.Equal(t, []int{http.StatusOK, first + snapshot}, []int{got.status, reads() - before})
		if !strings.Contains(got.body, `"name":"a"`) {
			t.Errorf("%s gets %s", text, got.body)
		}
		before = reads()
		assert.Equal(t, []int{http.StatusNotModified, 1},
			[]int{poll(process, text, got.header.Get("ETag")).status, reads() - before})
		assert.Equal(t, http.StatusUnauthorized, poll(process, text+"0", "").status)
	}
}
