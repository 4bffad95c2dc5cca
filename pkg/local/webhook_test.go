package local_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/localtest"
)

func TestWebhook(t *testing.T) {
	t.Parallel()
	received := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e eventbus.Event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		received <- e.Subject
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	service := localtest.Start(t, local.Config{DataDir: t.TempDir(), WebhookURL: server.URL})
	setLifetime(t, service, 3)
	timeout := time.After(time.Minute)
	for subject := ""; subject != "release"; {
		select {
		case subject = <-received:
		case <-timeout:
			t.Fatal("the webhook has not received the event of the changed lifetime")
		}
	}
}
