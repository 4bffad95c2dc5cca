package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/event"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/process"
)

// TestWebhookRefusesForTwoDays: the events of two changes are delivered once the webhook accepts them, each with the id of its first attempt.
// Toggles of the types have events, too, but how many there are and when they are sent depends on when the sweep runs.
func TestWebhookRefusesForTwoDays(t *testing.T) {
	t.Parallel()
	const refusal = 48 * time.Hour
	var mu sync.Mutex
	begin := time.Now()
	now := begin
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	attempts, delivered := map[string]int{}, map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, refused := r.Header.Get("Webhook-Id"), clock().Before(begin.Add(refusal))
		body, err := io.ReadAll(r.Body)
		if err != nil || !ofLifetime(body) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		attempts[id]++
		if refused {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		delivered[id]++
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	service := localtest.Start(t, local.Config{DataDir: dir, WebhookURL: server.URL, Now: clock})
	for _, id := range []string{"release", "operational"} {
		send(t, service, http.MethodPut, "/api/admin/feature-types/"+id+"/lifetime", service.APIToken, `{"lifetimeDays":1000}`)
	}
	const events = 2
	for left := events; left > 0; {
		var next time.Time // when the first of the messages becomes visible
		process.Await(t, "each message has been refused or delivered", 5*time.Millisecond, time.Minute, func() bool {
			messages := queued(t, dir)
			for i, m := range messages {
				if i == 0 || m.VisibleAt.Before(next) {
					next = m.VisibleAt
				}
			}
			left = len(messages)
			refusing := clock().Before(begin.Add(refusal))
			return (next.After(clock()) && (left == events || !refusing)) || left == 0 && !refusing
		})
		mu.Lock()
		now = next
		mu.Unlock()
	}
	mu.Lock()
	defer mu.Unlock()
	for id, n := range attempts {
		if n < 10 || delivered[id] != 1 {
			t.Errorf("event %s: %d attempts, delivered %d times", id, n, delivered[id])
		}
	}
	if len(delivered) != events {
		t.Errorf("%d events were delivered", len(delivered))
	}
}

// ofLifetime reports whether an event is that of a changed lifetime.
func ofLifetime(body []byte) bool {
	var e struct{ Type event.Type }
	return json.Unmarshal(body, &e) == nil && e.Type == event.FeatureTypeUpdated
}

// queued returns the messages with events of changed lifetimes that the queue of the webhook has stored.
func queued(t *testing.T, dir string) (messages []bus.Message) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events", "queue-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		var m bus.Message
		// Otherwise it is another event, or the file is being replaced or deleted.
		if err == nil && json.Unmarshal(content, &m) == nil && ofLifetime([]byte(m.Body)) {
			messages = append(messages, m)
		}
	}
	return messages
}
