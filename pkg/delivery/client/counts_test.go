package client_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
)

// TestCounts checks that a process logs what it has answered, once a minute.
func TestCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "checkout", toggle.Strategy{})
	f.compile()
	token := f.token(clienttokentable.Backend)
	var log bytes.Buffer
	process := client.New(client.Config{
		DynamoDB: f.db.Client, Tables: f.db.Tables, Origins: []string{"*"}, Now: f.clock, Random: rand.Reader,
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	logged := func() map[string]any {
		defer log.Reset()
		counts := map[string]any{}
		assert.OK(t, json.Unmarshal(log.Bytes(), &counts))
		delete(counts, "time")
		return counts
	}
	counts := func(full, notModified, rejected float64) map[string]any {
		return map[string]any{
			"level": "INFO", "msg": "responses",
			"full": full, "notModified": notModified, "rejectedTokens": rejected,
		}
	}

	tag := poll(process, token, "").header.Get("ETag")
	assert.Equal(t, logged(), counts(1, 0, 0))
	poll(process, token, "")
	poll(process, token, tag)
	poll(process, token, tag)
	poll(process, token+"x", tag)
	call(process, "GET", "/api/frontend", token, "")
	call(process, "GET", "/api/client/features/unknown", token, "")
	assert.Equal(t, log.String(), "")
	f.now = f.now.Add(time.Minute)
	poll(process, token, tag)
	assert.Equal(t, logged(), counts(1, 3, 2))
}
