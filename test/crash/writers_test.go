package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// writers is the number of concurrent clients.
const writers = 16

// load is a set of clients that write concurrently, each one request at a time.
type load struct {
	*service
	resumes      bool // clients continue after a request without a usable response
	acknowledged atomic.Int64
	halted       atomic.Bool
	running      sync.WaitGroup
}

// result is what a client knows about its request.
type result int

const (
	acknowledged result = iota
	unknown             // executed or not
	failed              // reported to the test
)

// add starts a client.
func (l *load) add(write func() result) {
	l.running.Go(func() {
		for !l.halted.Load() {
			switch write() {
			case acknowledged:
				l.acknowledged.Add(1)
			case unknown:
				if !l.resumes {
					return
				}
			case failed:
				return
			}
		}
	})
}

// awaitWrites waits for n more acknowledged writes.
func (l *load) awaitWrites(n int64) {
	l.t.Helper()
	target := l.acknowledged.Load() + n
	l.await(fmt.Sprint(n, " more acknowledged writes"), func() bool { return l.acknowledged.Load() >= target })
}

// send sends a request with an expected status. A response 500, 502 (the function had no time left, on a busy machine) or 503 must have the
// error object.
func (l *load) send(method, path, token, body string, want int) (result, []byte) {
	status, response, err := l.exchange(method, path, token, body)
	var object struct{ ID, Name, Message string }
	switch {
	case err != nil:
		return unknown, nil
	case status == want:
		return acknowledged, response
	case status >= http.StatusInternalServerError && json.Unmarshal(response, &object) == nil && object.ID != "" && object.Message != "" &&
		object.Name == map[int]string{500: "InternalError", 502: "InternalError", 503: "ServiceUnavailable"}[status]:
		return unknown, nil
	case status == http.StatusNotFound && method == http.MethodDelete && l.resumes:
		// The killed engine deleted the token without a response, and the function repeated the request. DynamoDB detects the
		// repetition; a restarted engine does not.
		return acknowledged, nil
	}
	l.t.Errorf("%s %s: %d %s", method, path, status, response)
	return failed, nil
}

// counter is a value that one client raises with each write.
type counter struct {
	name               string
	sent, acknowledged int64
	write              func(l *load, n int64) result
	read               func(s *service) int64
}

func (c *counter) step(l *load) result {
	c.sent++
	r := c.write(l, c.sent)
	if r == acknowledged {
		c.acknowledged = c.sent
	}
	return r
}

func (c *counter) check(s *service) {
	if got := c.read(s); got < c.acknowledged || got > c.sent {
		s.t.Errorf("%s is %d: %d was acknowledged, %d sent", c.name, got, c.acknowledged, c.sent)
	}
}

// newFeedback returns a counter in a feedback record: n is in given, and neverShow says whether it is even.
func newFeedback(id, token string) *counter {
	path := "/api/admin/feedback/" + id
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &counter{
		name: path,
		write: func(l *load, n int64) result {
			given := zero.Add(time.Duration(n) * time.Second).Format(time.RFC3339)
			r, _ := l.send(http.MethodPut, path, token, fmt.Sprintf(`{"neverShow":%v,"given":%q}`, n%2 == 0, given), http.StatusOK)
			return r
		},
		read: func(s *service) int64 {
			var now struct {
				NeverShow bool
				Given     *time.Time
			}
			if s.get(http.MethodPut, path, token, `{}`, &now); now.Given == nil {
				return 0
			}
			n := int64(now.Given.Sub(zero) / time.Second)
			if now.NeverShow != (n%2 == 0) {
				s.t.Errorf("%s is half written: %+v", path, now)
			}
			return n
		},
	}
}

// newLifetime returns a counter in the lifetime of a feature type.
func newLifetime(s *service, id string) *counter {
	path := "/api/admin/feature-types/" + id + "/lifetime"
	c := &counter{
		name: path,
		write: func(l *load, n int64) result {
			r, _ := l.send(http.MethodPut, path, s.APIToken, fmt.Sprintf(`{"lifetimeDays":%d}`, n), http.StatusOK)
			return r
		},
		read: func(s *service) int64 {
			var list struct {
				Types []struct {
					ID           string
					LifetimeDays int64
				}
			}
			s.get(http.MethodGet, "/api/admin/feature-types", s.APIToken, "", &list)
			for _, one := range list.Types {
				if one.ID == id {
					return one.LifetimeDays
				}
			}
			s.t.Errorf("feature type %s does not exist", id)
			return 0
		},
	}
	c.acknowledged = c.read(s)
	c.sent = c.acknowledged
	return c
}

// token is a token whose creation was acknowledged.
type token struct {
	ID     int64
	Secret string
}

// account is a service account whose tokens one client creates and deletes.
type account struct {
	id      int64
	created int
	last    int64 // highest token ID

	valid, deleted, unclear []token // unclear: the deletion was not acknowledged
}

func (a *account) step(l *load) result {
	const keep = 3 // with tokens whose creation was not acknowledged, an account stays below the limit of 10
	if len(a.valid) > keep {
		oldest := a.valid[0]
		credential := a.valid[a.created%2] // itself or a younger one
		a.valid = a.valid[1:]
		r, _ := l.send(http.MethodDelete, fmt.Sprint("/api/admin/user/tokens/", oldest.ID), credential.Secret, "", http.StatusOK)
		if r == acknowledged {
			a.deleted = append(a.deleted, oldest)
		} else {
			a.unclear = append(a.unclear, oldest)
		}
		return r
	}
	a.created++
	r, response := l.send(http.MethodPost, fmt.Sprintf("/api/admin/service-account/%d/token", a.id), l.Users[0].PAT,
		fmt.Sprintf(`{"description":"token %d","expiresAt":"2199-01-01T00:00:00Z"}`, a.created), http.StatusCreated)
	if r != acknowledged {
		return r
	}
	var t token
	if err := json.Unmarshal(response, &t); err != nil || t.ID <= a.last {
		l.t.Errorf("the token after %d is %s", a.last, response)
		return failed
	}
	a.last = t.ID
	a.valid = append(a.valid, t)
	return acknowledged
}

// check uses all tokens.
func (a *account) check(s *service) {
	use := func(tokens []token, allowed ...int) {
		for _, t := range tokens {
			status, response, err := s.exchange(http.MethodGet, "/api/admin/feature-types", t.Secret, "")
			if err != nil || status != allowed[0] && status != allowed[len(allowed)-1] {
				s.t.Errorf("token %d: status %d, want one of %d: %s %v", t.ID, status, allowed, response, err)
			}
		}
	}
	use(a.valid, http.StatusOK)
	use(a.deleted, http.StatusUnauthorized)
	use(a.unclear, http.StatusOK, http.StatusUnauthorized)
}
