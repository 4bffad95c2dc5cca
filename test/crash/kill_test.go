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
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

func TestKillEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	w := startWebhook(t)
	s := start(t, dir, w.URL)
	first := s.Running
	for round := range 2 {
		var writes atomic.Int64
		var running sync.WaitGroup
		counters := map[string]*counter{}
		for id, days := range s.lifetimes() {
			c := &counter{days, days}
			counters[id] = c
			running.Go(func() {
				for c.acknowledged == c.sent {
					c.sent++
					if s.setLifetime(id, c.sent) {
						c.acknowledged = c.sent
						writes.Add(1)
					}
				}
			})
		}
		atLeast := 50 + rand.Int64N(150)
		s.await("acknowledged writes", func() bool { return writes.Load() >= atLeast })
		s.kill(round%2 == 0)
		running.Wait()
		s = start(t, dir, w.URL)
		assert.Equal(t, first.Credentials, s.Credentials)
		assert.Equal(t, first.WebhookSecret, s.WebhookSecret)
		for id, days := range s.lifetimes() {
			if c := counters[id]; days < c.acknowledged || days > c.sent {
				t.Fatalf("%s is %d: %d was acknowledged, %d sent", id, days, c.acknowledged, c.sent)
			}
		}
	}
	w.awaitAll(s)
	s.stop()
}

// setLifetime reports whether a write was acknowledged. A response 500, 502 (the function had no time left, on a busy
// machine) or 503 must have the error object.
func (s *service) setLifetime(id string, days int64) bool {
	status, response, err := s.exchange(http.MethodPut, "/api/admin/feature-types/"+id+"/lifetime", s.APIToken,
		fmt.Sprintf(`{"lifetimeDays":%d}`, days))
	if err != nil || status == http.StatusOK {
		return err == nil
	}
	var object struct{ ID, Name, Message string }
	if json.Unmarshal(response, &object) != nil || object.ID == "" || object.Message == "" ||
		object.Name != map[int]string{500: "InternalError", 502: "InternalError", 503: "ServiceUnavailable"}[status] {
		s.t.Errorf("%s: %d %s", id, status, response)
	}
	return false
}

// counter is the lifetime of a feature type, which one client raises with each write.
type counter struct {
	sent, acknowledged int64
}

// lifetimes returns the lifetimes of all feature types. 0 is none.
func (s *service) lifetimes() map[string]int64 {
	types, err := featuretype.NewStore(s.data.Client, s.data.Tables, nil).List(s.t.Context())
	assert.OK(s.t, err)
	all := map[string]int64{}
	for _, one := range types {
		all[one.ID] = aws.ToInt64(one.LifetimeDays)
	}
	return all
}

// webhook accepts events. It survives the kills.
type webhook struct {
	*httptest.Server
	mu       sync.Mutex
	received map[string]string // ids of requests, by the event's id in the log
	header   http.Header       // of the last request
	content  []byte
}

func startWebhook(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{received: map[string]string{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Sequence string }
		content, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(content, &e) != nil {
			return // the sender was killed
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.header, w.content = r.Header, content
		id := r.Header.Get("Webhook-Id")
		if before := w.received[e.Sequence]; before != "" && before != id {
			t.Errorf("event %s was sent with the ids %s and %s", e.Sequence, before, id)
		}
		w.received[e.Sequence] = id
	}))
	t.Cleanup(w.Close)
	return w
}

// awaitAll waits for the event of each lifetime in the log. All events are signed with the secret in local.json.
func (w *webhook) awaitAll(s *service) {
	s.t.Helper()
	n := 0
	assert.OK(s.t, s.data.Events(time.Now).All(s.t.Context(), eventlog.Filter{Types: []string{"feature-type-updated"}},
		func(e eventlog.Event) error {
			s.await(fmt.Sprintf("event %d at the webhook", e.ID), func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.received[strconv.FormatInt(e.ID, 10)] != ""
			})
			n++
			return nil
		}))
	verifier, err := standardwebhooks.NewWebhook(s.WebhookSecret)
	assert.OK(s.t, err, verifier.Verify(w.content, w.header))
	if n < 50 {
		s.t.Errorf("the log has only %d events", n)
	}
}
