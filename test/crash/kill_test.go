package crash_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/test/assert"
)

func TestKillEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	w := startWebhook(t)
	s := start(t, dir, w.URL)
	first := s.Running
	for round := range 2 {
		l := &load{service: s}
		var counters []*counter
		for id, days := range s.lifetimes() {
			c := &counter{id, days, days}
			counters = append(counters, c)
			l.add(func() bool { return c.step(l) })
		}
		l.awaitWrites(50 + rand.Int64N(150))
		s.kill(round%2 == 0)
		l.running.Wait()
		s = start(t, dir, w.URL)
		assert.Equal(t, first.Credentials, s.Credentials)
		assert.Equal(t, first.WebhookSecret, s.WebhookSecret)
		lifetimes := s.lifetimes()
		for _, c := range counters {
			if got := lifetimes[c.id]; got < c.acknowledged || got > c.sent {
				t.Errorf("%s is %d: %d was acknowledged, %d sent", c.id, got, c.acknowledged, c.sent)
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
	header   http.Header                // of the last request
	content  []byte
}

func startWebhook(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{received: map[string]map[string]bool{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Sequence string }
		content, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(content, &e) != nil {
			return // the sender was killed
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.header, w.content = r.Header, content
		if w.received[e.Sequence] == nil {
			w.received[e.Sequence] = map[string]bool{}
		}
		w.received[e.Sequence][r.Header.Get("Webhook-Id")] = true
	}))
	t.Cleanup(w.Close)
	return w
}

// awaitAll waits for every event of the log. An event has one id, however often it is sent. All are signed with the
// secret in local.json.
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
		s.get(fmt.Sprint("/api/admin/search/events?limit=1000&offset=", offset), &log)
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
	verifier, err := standardwebhooks.NewWebhook(s.WebhookSecret)
	assert.OK(s.t, err)
	assert.OK(s.t, verifier.Verify(w.content, w.header))
	if log.Total < 50 {
		s.t.Errorf("the log has only %d events", log.Total)
	}
}

// counter is the lifetime of a feature type, which one client raises with each write.
type counter struct {
	id                 string
	sent, acknowledged int64
}

// step sends a write and reports whether it was acknowledged. A response 500, 502 (the function had no time left, on a
// busy machine) or 503 must have the error object.
func (c *counter) step(l *load) bool {
	c.sent++
	path, body := "/api/admin/feature-types/"+c.id+"/lifetime", fmt.Sprintf(`{"lifetimeDays":%d}`, c.sent)
	status, response, err := l.exchange(http.MethodPut, path, l.APIToken, body)
	var object struct{ ID, Name, Message string }
	switch {
	case err != nil:
	case status == http.StatusOK:
		c.acknowledged = c.sent
		l.acknowledged.Add(1)
		return true
	case json.Unmarshal(response, &object) != nil || object.ID == "" || object.Message == "" ||
		object.Name != map[int]string{500: "InternalError", 502: "InternalError", 503: "ServiceUnavailable"}[status]:
		l.t.Errorf("%s: %d %s", c.id, status, response)
	}
	return false
}

// lifetimes returns the lifetimes of all feature types.
func (s *service) lifetimes() map[string]int64 {
	var list struct {
		Types []struct {
			ID           string
			LifetimeDays int64
		}
	}
	s.get("/api/admin/feature-types", &list)
	all := map[string]int64{}
	for _, one := range list.Types {
		all[one.ID] = one.LifetimeDays
	}
	return all
}
