package installation_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/webhook"
)

// openLocal opens a local service with a webhook and this archive.
func openLocal(tb testing.TB, webhookURL, archive string) (i *installation.Installation, dir string) {
	tb.Helper()
	service := httptest.NewServer(nil)
	tb.Cleanup(service.Close)
	tables := map[string]string{}
	for _, id := range dynamo.TableIDs() {
		tables[id] = id
	}
	dir = tb.TempDir()
	content, err := json.Marshal(map[string]any{
		"baseUrl": service.URL, "dynamodb": map[string]any{"endpoint": service.URL, "tables": tables},
		"webhookUrl": webhookURL, "webhookSecret": webhook.NewSecret(make([]byte, 32)),
	})
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "local.json"), content, 0o600), os.Mkdir(filepath.Join(dir, "events"), 0o700),
		os.WriteFile(filepath.Join(dir, "events", "sent.jsonl"), []byte(archive), 0o600)); err != nil {
		tb.Fatal(err)
	}
	if i, err = installation.OpenLocal(tb.Context(), dir); err != nil {
		tb.Fatal(err)
	}
	return i, dir
}

const archive = `{"time":"2026-11-20T05:00:00Z","event":{"id":"a"}}
{"time":"2026-11-20T05:3
{"time":"2026-11-20T06:00:00Z","event":{"id":"b"}}
{"time":"2026-11-20T06:00:01Z","event":{"id":"c"}}
`

var since = time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)

func TestFollowLocalEvents(t *testing.T) {
	t.Parallel()
	i, dir := openLocal(t, "", archive+`{"time":"2026-11-20T07:0`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := ""
	err := i.FollowEvents(ctx, since, time.Now, func(event json.RawMessage) error {
		got += string(event)
		switch {
		case strings.Contains(got, `"d"`):
			cancel()
		case strings.Contains(got, `"c"`): // the service writes the rest of the last line
			file, err := os.OpenFile(filepath.Join(dir, "events", "sent.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteString("0:00Z\",\"event\":{\"id\":\"d\"}}\n")
			return errors.Join(err, file.Close())
		}
		return nil
	})
	if want := `{"id":"b"}{"id":"c"}{"id":"d"}`; got != want || err != nil {
		t.Errorf("%s, error %v, want %s", got, err, want)
	}
}

func TestReplayLocalEvents(t *testing.T) {
	t.Parallel()
	got, status := "", http.StatusNoContent
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got += r.Header.Get("Webhook-Id") + string(body)
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	i, _ := openLocal(t, receiver.URL, archive)
	replay, err := i.ReplayEvents(t.Context(), "", since, time.Now)
	if want := `b{"id":"b"}c{"id":"c"}`; got != want || err != nil || replay.Sent != 2 {
		t.Errorf("%s, %+v, error %v, want %s", got, replay, err, want)
	}
	status = http.StatusInternalServerError
	if _, err := i.ReplayEvents(t.Context(), "", since, time.Now); err == nil || !strings.Contains(err.Error(), "send event b to the webhook") {
		t.Error(err)
	}
}
