package crash_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKillEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	w := startWebhook(t)
	s := start(t, dir, webhookVariable+"="+w.URL)
	first := s.Credentials
	for round := range repetitions() {
		l := &load{service: s}
		var counters []*counter
		for i, id := range []string{"release", "experiment", "operational", "kill-switch"} {
			counters = append(counters, newFeedback(fmt.Sprintf("crash-%d-%d", round, i), l.Users[i%3].PAT), newLifetime(s, id))
		}
		for _, c := range counters {
			l.add(func() bool { return c.step(l) })
		}
		l.awaitWrites(50 + rand.Int64N(150))
		s.kill(round%2 == 0)
		l.running.Wait()
		s = start(t, dir, webhookVariable+"="+w.URL)
		if diff := cmp.Diff(first, s.Credentials); diff != "" {
			t.Error("the credentials have changed", diff)
		}
		for _, c := range counters {
			if got := c.read(s); got < c.acknowledged || got > c.sent {
				t.Errorf("%s is %d: %d was acknowledged, %d sent", c.path, got, c.acknowledged, c.sent)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	w.awaitAll(s)
	s.stop()
}

// webhook accepts events. It survives the kills.
type webhook struct {
	*httptest.Server
	mu       sync.Mutex
	received map[string]map[string]bool // ids of requests, by the event's id in the log
}

func startWebhook(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{received: map[string]map[string]bool{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Sequence string }
		if json.NewDecoder(r.Body).Decode(&e) != nil {
			return // the sender was killed
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.received[e.Sequence] == nil {
			w.received[e.Sequence] = map[string]bool{}
		}
		w.received[e.Sequence][r.Header.Get("Webhook-Id")] = true
	}))
	t.Cleanup(w.Close)
	return w
}

// awaitAll waits for every event of the log. An event has one id, however often it is sent.
func (w *webhook) awaitAll(s *service) {
	s.t.Helper()
	var log struct {
		Events []struct {
			ID   int64
			Type string
		}
		Total int
	}
	for offset, total := 0, 1; offset < total; offset += len(log.Events) {
		log.Events = nil
		s.get(http.MethodGet, fmt.Sprint("/api/admin/search/events?limit=1000&offset=", offset), s.APIToken, "", &log)
		if total = log.Total; len(log.Events) == 0 {
			break
		}
		for _, e := range log.Events {
			if e.Type == "installation-initialized" { // before the stream began
				continue
			}
			sequence := strconv.FormatInt(e.ID, 10)
			s.await("event "+sequence+" at the webhook", func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				if len(w.received[sequence]) > 1 {
					s.t.Errorf("event %s was sent with the ids %v", sequence, w.received[sequence])
				}
				return len(w.received[sequence]) > 0
			})
		}
	}
	s.t.Logf("%d events are in the log and at the webhook", log.Total)
	if log.Total < 100 {
		s.t.Errorf("the log has only %d events", log.Total)
	}
}

// repetitions returns the number of kills.
func repetitions() int {
	if testing.Short() {
		return 2
	}
	return 4
}

// counter is a value that one client raises with each write.
type counter struct {
	path, token        string
	sent, acknowledged int64
	body               func(n int64) string
	read               func(s *service) int64
}

// step sends a write and reports whether it was acknowledged. A response 500, 502 (the function had no time left, on a
// busy machine) or 503 must have the error object.
func (c *counter) step(l *load) bool {
	c.sent++
	status, response, err := l.exchange(http.MethodPut, c.path, c.token, c.body(c.sent))
	var object struct{ ID, Name, Message string }
	switch {
	case err != nil:
	case status == http.StatusOK:
		c.acknowledged = c.sent
		l.acknowledged.Add(1)
		return true
	case json.Unmarshal(response, &object) != nil || object.ID == "" || object.Message == "" ||
		object.Name != map[int]string{500: "InternalError", 502: "InternalError", 503: "ServiceUnavailable"}[status]:
		l.t.Errorf("%s: %d %s", c.path, status, response)
	}
	return false
}

// newFeedback returns a counter in a feedback record: n is in given, and neverShow says whether it is even.
func newFeedback(id, token string) *counter {
	path := "/api/admin/feedback/" + id
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &counter{
		path: path, token: token,
		body: func(n int64) string {
			given := zero.Add(time.Duration(n) * time.Second).Format(time.RFC3339)
			return fmt.Sprintf(`{"neverShow":%v,"given":%q}`, n%2 == 0, given)
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
		path: path, token: s.APIToken,
		body: func(n int64) string { return fmt.Sprintf(`{"lifetimeDays":%d}`, n) },
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
