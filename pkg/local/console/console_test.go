package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/console"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 20, 30, 0, time.UTC) }

const token = "user:v2_AAAAAAAAAAEAAAAAAAAAAQ_abcdefghijklmnopqrstuvwxyzabcdefghijklmnop_"

func request(id, path string, status int) *console.Request {
	return &console.Request{Method: "GET", Path: path, Status: status, Function: "list-feature-types", Duration: 1234 * time.Microsecond, ID: id}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		color bool
		do    func(*console.Console)
		want  string
	}{
		{
			name: "one aligned line per request",
			do: func(c *console.Console) {
				c.Request(request("id-1", "/api/admin/feature-types", 200))
				c.Request(&console.Request{Method: "OPTIONS", Path: "/", Status: 404, Duration: 100 * time.Millisecond, ID: "id-2"})
			},
			want: "10:20:30 GET     /api/admin/feature-types                             200 list-feature-types                 1.2 ms  id-1\n" +
				"10:20:30 OPTIONS /                                                    404 -                                100.0 ms  id-2\n",
		},
		{
			name: "a hidden secret leaves its line aligned",
			do:   func(c *console.Console) { c.Request(request("id-1", "/"+token, 404)) },
			want: "10:20:30 GET     /user:v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted]           404 list-feature-types                 1.2 ms  id-1\n",
		},
		{
			name: "causes stand beneath their request", do: func(c *console.Console) {
				log := c.Logger("list-feature-types")
				log.Info("request", "apiRequestId", "id-2", "status", 200)
				log.Error("request", "apiRequestId", "id-1", "status", 500, "error", "InternalError", "cause", "it\tbroke\nat line 7\n")
				c.Request(request("id-2", "/b", 200))
				c.Request(request("id-1", "/a", 500))
				log.Error("no request's")
			},
			want: "10:20:30 GET     /b                                                   200 list-feature-types                 1.2 ms  id-2\n" +
				"10:20:30 GET     /a                                                   500 list-feature-types                 1.2 ms  id-1\n" +
				"         ERROR request  function=list-feature-types  error=InternalError\n" +
				"           cause: it  broke\n" +
				"           at line 7\n" +
				"TIME ERROR no request's  function=list-feature-types\n",
		},
		{
			name: "the gateway's own cause", do: func(c *console.Console) {
				r := request("id-1", "/", 502)
				r.Cause = "panic: x\nline 2"
				c.Request(r)
				c.AccessLog([]byte("not on a terminal"), now())
			},
			want: "10:20:30 GET     /                                                    502 list-feature-types                 1.2 ms  id-1\n" +
				"           cause: panic: x\n" +
				"           line 2\n",
		},
		{
			name: "what has no request any more is shown at the end",
			do: func(c *console.Console) {
				c.Logger("f").With("requestId", "id-9").WithGroup("g").Warn("late", "k", errors.New("v"))
				c.Close()
			},
			want: "         WARN late  function=f  g.k=v\n",
		},
		{
			name: "calls beside the API", do: func(c *console.Console) {
				end := func(id string, routine bool, cause string) {
					c.EndCall(&console.Call{Function: "f", Trigger: "log L, 2 lines", ID: id, Duration: time.Millisecond, Routine: routine, Cause: cause})
				}
				for _, id := range []string{"shown", "quiet", "warned", "failed"} {
					c.BeginCall(id)
				}
				c.EventLogger("f", false).Info("said", "requestId", "shown")
				c.EventLogger("f", true).Info("unsaid", "requestId", "quiet")
				c.EventLogger("f", true).Warn("odd", "requestId", "warned", "malformed", 1)
				end("shown", false, "")
				end("quiet", true, "")
				end("warned", true, "")
				end("failed", true, "no table")
			},
			want: "10:20:30 event   log L, 2 lines                                       ok  f                                  1.0 ms  shown\n" +
				"         INFO said  function=f\n" +
				"10:20:30 event   log L, 2 lines                                       ok  f                                  1.0 ms  warned\n" +
				"         WARN odd  function=f  malformed=1\n" +
				"10:20:30 event   log L, 2 lines                                       ERR f                                  1.0 ms  failed\n" +
				"           cause: no table\n",
		},
		{
			name: "our own", do: func(c *console.Console) { c.Own().Info("the engine answers again", "endpoint", "http://x") },
			want: "TIME INFO the engine answers again  endpoint=http://x\n",
		},
		{
			name: "colours", color: true, do: func(c *console.Console) { c.Request(request("i", "/", 503)) },
			want: "10:20:30 GET     /                                                    \x1b[31m503\x1b[0m list-feature-types            \x1b[2m     1.2 ms  i\x1b[0m\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tt.do(console.New(&out, console.Options{Terminal: true, Color: tt.color, Now: now}))
			lines := strings.SplitAfter(out.String(), "\n")
			for i, line := range lines { // a record has the time at which it was made
				if _, rest, found := strings.Cut(line, " "); found && (strings.HasPrefix(rest, "ERROR") || strings.HasPrefix(rest, "INFO")) {
					lines[i] = "TIME " + rest
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(lines, "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinesOfJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := console.New(&out, console.Options{Now: now})
	r := request("id-1", "/api", 200)
	c.Request(r)
	c.AccessLog([]byte(`{"requestId":"id-1", "status":"200"}`), now())
	c.AccessLog([]byte("plain text"), now())
	r.Cause = "panic: x\nline 2"
	c.Request(r)
	c.Logger("f").Info("not shown")
	c.Logger("f").Error("request", "apiRequestId", "id-1", "cause", "it broke")
	c.Own().Info("hello")
	c.Close()
	want := []map[string]any{
		{
			"level": "INFO", "msg": "request", "method": "GET", "path": "/api", "status": 200.0, "function": "list-feature-types",
			"milliseconds": 1.234, "requestId": "id-1",
		},
		{"level": "INFO", "msg": "access log", "line": map[string]any{"requestId": "id-1", "status": "200"}},
		{"level": "INFO", "msg": "access log", "line": "plain text"},
		{
			"level": "ERROR", "msg": "request", "method": "GET", "path": "/api", "status": 200.0, "function": "list-feature-types",
			"milliseconds": 1.234, "requestId": "id-1", "cause": "panic: x\nline 2",
		},
		{"level": "ERROR", "msg": "request", "function": "f", "apiRequestId": "id-1", "cause": "it broke"},
		{"level": "INFO", "msg": "hello"},
	}
	var got []map[string]any
	for line := range strings.Lines(out.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, ok := record["time"].(string); !ok {
			t.Errorf("no time in %q", line)
		}
		delete(record, "time")
		got = append(got, record)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := []struct{ name, text, must string }{
		{"escape sequence", "/\x1b[2Jx", `\x1b[2J`},
		{"line break", "/a\nready http://evil", `\x0a`},
		{"delete and C1", "/\x7f\u009b31m", `\x7f\u009b31m`},
		{"direction override", "/\u202egnp", `\u202e`},
		{"not UTF-8", "/\xff", `\xff`},
		{"umlauts stay", "/größe", "größe"},
		{"a token", "/api/" + token, "v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted]"},
		{"an encoded token", "/" + strings.ReplaceAll(strings.ReplaceAll(token, "_", "%5F"), ":", "%3a"), "[redacted]"},
		{"a web token", "/eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln", "/[redacted]"},
		{"very long", "/" + strings.Repeat("a", 10_000), "aaa…"},
	}
	for _, terminal := range []bool{true, false} {
		for _, tt := range hostile {
			t.Run(fmt.Sprintf("%s, terminal %v", tt.name, terminal), func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				c := console.New(&out, console.Options{Terminal: terminal, Now: now})
				c.Request(request("id", tt.text, 404))
				must := tt.must
				if !terminal { // JSON's own escape of the backslash
					must = strings.ReplaceAll(must, `\`, `\\`)
				}
				line := out.String()
				if !strings.Contains(line, must) || strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\x1b\x7f") {
					t.Errorf("%q, want %q in it", line, must)
				}
				if strings.Contains(line, "abcdefghijklmnopq") || strings.Contains(line, "c2ln") {
					t.Errorf("a secret in %q", line)
				}
				if len(line) > 3000 {
					t.Errorf("%d bytes", len(line))
				}
			})
		}
	}
}

func TestSecretsInCauses(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		c := console.New(&out, console.Options{Terminal: terminal, Now: now})
		c.Logger("f").Error("request", "cause", "body {\"a\":\""+token+"\"}\nsecond")
		if text := out.String(); strings.Contains(text, "abcdefgh") || !strings.Contains(text, "second") {
			t.Errorf("%q", text)
		}
	}
}

// What waits for a request is bounded: the oldest is shown without one.
func TestPendingIsBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := console.New(&out, console.Options{Terminal: true, Now: now})
	const most = 1024
	for i := range most + 5 {
		c.Logger("f").Error("x", "apiRequestId", fmt.Sprint("id-", i), "n", i)
	}
	if got := strings.Count(out.String(), "\n"); got != 5 {
		t.Errorf("%d lines", got)
	}
	c.Request(request(fmt.Sprint("id-", most), "/", 500))
	if text := out.String(); !strings.HasSuffix(text, fmt.Sprintf("n=%d\n", most)) {
		t.Errorf("the last line of %q", text[len(text)-200:])
	}
	c.Close()
	if got := strings.Count(out.String(), "ERROR"); got != most+5 {
		t.Errorf("%d records", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		c := console.New(&out, console.Options{Terminal: terminal, Now: now})
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				id := fmt.Sprint("id-", i)
				c.Logger("f").LogAttrs(t.Context(), slog.LevelError, "request", slog.String("apiRequestId", id))
				c.Request(request(id, "/", 500))
			})
		}
		wg.Wait()
		if got := strings.Count(out.String(), "\n"); got != 32 {
			t.Errorf("%d lines", got)
		}
	}
}
