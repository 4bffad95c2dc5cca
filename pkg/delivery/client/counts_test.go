package client_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A process that cannot confirm for ten seconds that what it answers with is the current state logs once a minute how
// often it did so, and why.
func TestStale(t *testing.T) {
	t.Parallel()
	const refused = "AccessDeniedException"
	for name, test := range map[string]struct {
		change func(*fixture)
		fault  func(*fixture, *database.Call) (*http.Response, error)
		cause  string
	}{
		"everything": {
			(*fixture).compile,
			func(_ *fixture, c *database.Call) (*http.Response, error) { return c.Refuse(refused) },
			refused,
		},
		"the parts": {
			func(f *fixture) {
				f.put("shop", "a", toggle.Strategy{})
				f.compile()
			},
			func(_ *fixture, c *database.Call) (*http.Response, error) {
				if strings.Contains(c.Body, "part#") {
					return c.Refuse(refused)
				}
				return c.Pass()
			},
			refused,
		},
		"the tokens": {
			(*fixture).compile,
			func(f *fixture, c *database.Call) (*http.Response, error) {
				return throttle(f, c, f.db.Tables[clienttokentable.Table])
			},
			"DynamoDB throttled the read of tokens or a pointer",
		},
		"no pointer": {
			(*fixture).deletePointer,
			func(_ *fixture, c *database.Call) (*http.Response, error) { return c.Pass() },
			"no snapshot of the environment has been compiled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.compile()
			var fails atomic.Bool
			through, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
				if fails.Load() && c.Operation == "BatchGetItem" {
					return test.fault(f, c)
				}
				return c.Pass()
			})
			token := f.token(clienttokentable.Backend)
			var log bytes.Buffer
			process := client.New(client.Config{
				DynamoDB: through, Tables: f.db.Tables, Freshness: 250 * time.Millisecond, Origins: []string{"*"}, Now: f.clock,
				Random: rand.Reader, Logger: slog.New(slog.NewJSONHandler(&log, nil)), Function: "client",
			})
			tag := poll(process, token, "").header.Get("ETag")
			since := f.now
			test.change(f)
			fails.Store(true)
			f.now = f.now.Add(4 * time.Second)
			for range 12 { // 4 s to 70 s after the last read
				assert.Equal(t, http.StatusNotModified, poll(process, token, tag).status)
				f.now = f.now.Add(6 * time.Second)
			}
			var got []string
			for line := range strings.Lines(log.String()) {
				var l struct {
					Level, Msg, Environment, Cause string
					Since                          time.Time
					Stale                          int
					AWS                            struct {
						CloudWatchMetrics []struct{ Metrics []struct{ Name string } }
					} `json:"_aws"`
				}
				assert.OK(t, json.Unmarshal([]byte(line), &l))
				if l.Msg != "applications get an earlier state" {
					continue
				}
				got = append(got, fmt.Sprint(l.Level, " ", l.Environment, " ", l.Stale, " ", l.AWS.CloudWatchMetrics[0].Metrics))
				if !l.Since.Equal(since) || !strings.Contains(l.Cause, test.cause) {
					t.Errorf("since %v, because of %s", l.Since, l.Cause)
				}
			}
			assert.Equal(t, []string{"ERROR production 1 [{stale}]", "ERROR production 10 [{stale}]"}, got)
		})
	}
}

// A process that is behind its client, and cannot read the pointer, logs it.
func TestStaleBehindItsClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token := f.token(clienttokentable.Backend)
	var log bytes.Buffer
	behind := client.New(client.Config{
		DynamoDB: f.db.Refusing(t, "GetItem"), Tables: f.db.Tables, Freshness: time.Hour, Origins: []string{"*"},
		Now: f.clock, Random: rand.Reader, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	poll(behind, token, "")
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	f.now = f.now.Add(10 * time.Second)
	assert.Equal(t, http.StatusNotModified, poll(behind, token, poll(f.process(), token, "").header.Get("ETag")).status)
	if !strings.Contains(log.String(), "level=ERROR msg=\"applications get an earlier state\" stale=1 environment=production") {
		t.Error(log.String())
	}
}

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
