package terminal_test

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/local/terminal"
	"toggleadmin/test/helper/assert"
)

const token = "user:v2_AAAAAAAAAAEAAAAAAAAAAQ_abcdefghijklmnopqrstuvwxyzabcdefghijklmnop_"

func now() time.Time { return time.Date(2026, 11, 21, 10, 20, 30, 0, time.UTC) }

func request(id, path string, status int) *terminal.Entry {
	return &terminal.Entry{Method: "GET", Path: path, Status: status, Function: "get-all-feature-types",
		Duration: 1234 * time.Microsecond, ID: id}
}

func event(id string, cause error, quiet bool) *terminal.Entry {
	return &terminal.Entry{
		Method: "event", Path: "log L, 2 lines", Function: "f", Duration: time.Millisecond, ID: id, Cause: cause,
		Quiet: quiet,
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		color bool
		do    func(*terminal.Output)
		want  string
	}{
		{
			name: "requests, with secrets replaced",
			do: func(c *terminal.Output) {
				c.Log(request("id-1", "/"+token, 404))
				c.Log(&terminal.Entry{Method: "OPTIONS", Path: "/", Status: 404, Duration: 100 * time.Millisecond, ID: "id-2"})
			},
			want: "10:20:30 404 GET    /user:v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted] 1.2 ms  id-1\n" +
				"10:20:30 404 OPTIONS / 100.0 ms  id-2\n",
		},
		{
			name: "records of functions",
			do: func(c *terminal.Output) {
				log := c.FunctionLogger("get-all-feature-types", slog.LevelWarn)
				log.Info("request", "apiRequestId", "id-1", "status", 200)
				log.Error("request", "apiRequestId", "id-2", "status", 500, "error", "InternalError", "cause",
					"it\tbroke\nat line 7\n")
				log.Error("of no request", "cause", errors.New("\"x\""))
			},
			want: "TIME ERROR request  function=get-all-feature-types  apiRequestId=id-2  error=InternalError\n" +
				"           cause: it  broke\n" +
				"           at line 7\n" +
				"TIME ERROR of no request  function=get-all-feature-types\n" +
				"           cause: \"x\"\n",
		},
		{
			name: "records of events, without metrics",
			do: func(c *terminal.Output) {
				ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "id-3"})
				//nolint:sloglint // CloudWatch's key
				c.EventLogger("f", slog.LevelInfo).InfoContext(ctx, "logged", "_aws", "metrics", "flagged", 1, "pages", 32)
				c.EventLogger("f", slog.LevelWarn).InfoContext(ctx, "not logged")
			},
			want: "TIME INFO logged  function=f  flagged=1  requestId=id-3\n",
		},
		{
			name: "events",
			do: func(c *terminal.Output) {
				c.Log(event("shown", nil, false))
				c.Log(event("quiet", nil, true))
				c.Log(event("failed", errors.New("no table"), true))
			},
			want: "10:20:30 ok  event  log L, 2 lines 1.0 ms  shown\n" +
				"10:20:30 ERR event  log L, 2 lines 1.0 ms  failed\n" +
				"           cause: no table\n",
		},
		{
			name:  "colors",
			color: true,
			do: func(c *terminal.Output) {
				c.Log(request("i", "/", 503))
				c.Logger(slog.LevelInfo).Warn("the engine ended", "reason", "killed")
			},
			want: "10:20:30 \x1b[31m503\x1b[0m GET    / \x1b[2m1.2 ms  i\x1b[0m\n" +
				"TIME \x1b[31mWARN\x1b[0m the engine ended  reason=killed\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tt.do(terminal.New(&out, terminal.Options{Terminal: true, Color: tt.color, Now: now}))
			got := timeOfRecord.ReplaceAllStringFunc(out.String(), func(start string) string {
				if strings.HasPrefix(start, "10:20:30") {
					return start
				}
				return "TIME" + start[len("15:04:05"):]
			})
			assert.Equal(t, tt.want, got)
		})
	}
}

// timeOfRecord matches the start of a line. A record has the time at which it was created, not that of the clock.
var timeOfRecord = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`)

func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := terminal.New(&out, terminal.Options{Now: now})
	c.Log(request("id-1", "/api", 200))
	failed := request("id-2", "/"+token, 500)
	failed.Cause = errors.New("panic: x\nline 2")
	c.Log(failed)
	c.FunctionLogger("f", slog.LevelWarn).Info("request", "apiRequestId", "id-1")
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "id-3"})
	c.EventLogger("g", slog.LevelWarn).InfoContext(ctx, "counted")
	want := `{TIME,"level":"INFO","msg":"request","method":"GET","path":"/api","status":200,"function":"get-all-feature-types","milliseconds":1.234,"requestId":"id-1"}
{TIME,"level":"ERROR","msg":"request failed","method":"GET","path":"/user:v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted]","status":500,"function":"get-all-feature-types","milliseconds":1.234,"requestId":"id-2","cause":"panic: x\nline 2"}
{TIME,"level":"INFO","msg":"request","function":"f","apiRequestId":"id-1"}
{TIME,"level":"INFO","msg":"counted","function":"g","requestId":"id-3"}
`
	got := regexp.MustCompile(`"time":"[^"]+"`).ReplaceAllString(out.String(), "TIME")
	assert.Equal(t, want, got)
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/\x1b[2Jx":             "/\\x1b[2Jx ",
		"/a\nready http://evil": "/a\\nready http://evil ",
		"/\"größe\"\xff":        "/\"größe\"\\xff ",
		"/" + strings.ReplaceAll(token, "_", "%5F"): "[redacted] ",
		"/eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln": "/[redacted] ",
		"/" + strings.Repeat("a", 10_000):           "aaa… ",
	} {
		var out bytes.Buffer
		terminal.New(&out, terminal.Options{Terminal: true, Now: now}).Log(request("id", path, 404))
		line := out.String()
		if !strings.Contains(line, want) || strings.Count(line, "\n") != 1 || strings.Contains(line, "\x1b") ||
			len(line) > 300 {
			t.Errorf("%q, want %q in it", line, want)
		}
	}
}
