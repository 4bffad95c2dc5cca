package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/api/eventbus"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/test/process"
)

// TestWebhookAfterKill kills the program after the bus has accepted an event and before the webhook has. The next
// process delivers it, with the same id, signed with the secret in local.json.
func TestWebhookAfterKill(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	hangs.Store(true)
	requests := make(chan *http.Request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program was killed
		}
		r.Body = io.NopCloser(strings.NewReader(string(content)))
		requests <- r
		if hangs.Load() {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	first := serve(t, t.TempDir(), "--webhook-url="+server.URL)
	first.updateLifetime(t)
	id := awaitEvent(t, first, requests)
	signal(t, first.Process.Pid, syscall.SIGKILL)
	if err := <-first.ended; err == nil {
		t.Error("it ended with status 0")
	}
	process.Await(t, "the engine ends with the program", time.Millisecond, timeout,
		func() bool { return !process.Runs(first.enginePID(t)) })
	for len(requests) > 0 {
		<-requests
	}
	hangs.Store(false)
	second := serve(t, first.dir, "--webhook-url="+server.URL)
	if again := awaitEvent(t, second, requests); again != id || second.WebhookSecret != first.WebhookSecret {
		t.Errorf("the event had the id %s and has %s; the secret was %s and is %s", id, again, first.WebhookSecret,
			second.WebhookSecret)
	}
}

// updateLifetime causes an event.
func (p *program) updateLifetime(tb testing.TB) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPut,
		p.BaseURL+"/api/admin/feature-types/release/lifetime",
		strings.NewReader(`{"lifetimeDays":77}`))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Authorization", p.APIToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		tb.Fatal(response.Status, err)
	}
}

// awaitEvent waits for the event of updateLifetime, checks its signature and returns its id.
func awaitEvent(t *testing.T, p *program, requests <-chan *http.Request) string {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(p.WebhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.After(timeout); ; {
		select {
		case r := <-requests:
			content, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := verifier.Verify(content, r.Header); err != nil {
				t.Errorf("%s: %v", content, err)
			}
			var got struct{ Type string } // the events of toggles have the lifetime, too, and can come first
			if err := json.Unmarshal(content, &got); err != nil {
				t.Fatal(err)
			}
			if got.Type == eventbus.Prefix+string(eventlog.FeatureTypeUpdated) {
				return r.Header.Get("Webhook-Id")
			}
		case <-end:
			t.Fatalf("the webhook did not receive the event\n%s", p.stderr)
		}
	}
}
