package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/local/terminal"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

const token = "user:v2_AAAAAAAAAAEAAAAAAAAAAQ_abcdefghijklmnopqrstuvwxyzabcdefghijklmnop_"

func now() time.Time { return time.Date(2026, 11, 21, 10, 20, 30, 0, time.UTC) }

func request(id, path string, status int) *terminal.Entry {
	return &terminal.Entry{Method: "GET", Path: path, Status: status, Function: "list-feature-types",
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
			name: "requests are aligned, with secrets replaced",
			do: func(c *terminal.Output) {
				c.Log(request("id-1", "/"+token, 404))
				c.Log(&terminal.Entry{Method: "OPTIONS", Path: "/", Status: 404, Duration: 100 * time.Millisecond, ID: "id-2"})
			},
			want: "10:20:30 GET     /user:v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted]           404 list-feature-types              " +
				"   1.2 ms  id-1\n" +
				"10:20:30 OPTIONS /                                                    404 -                                100.0 ms  id-2\n",
		},
		{
			name: "records are beneath their request", do: func(c *terminal.Output) {
				log := c.FunctionLogger("list-feature-types", slog.LevelWarn)
				log.Info("request", "apiRequestId", "id-2", "status", 200)
				log.Error("request", "apiRequestId", "id-1", "status", 500, "error", "InternalError", "cause",
					"it\tbroke\nat line 7\n")
				c.Log(request("id-2", "/b", 200))
				c.Log(request("id-1", "/a", 500))
				log.Error("of no request", "cause", errors.New("\"x\""))
				log.With("requestId", "id-9").Warn("late")
				c.Close()
			},
			want: "10:20:30 GET     /b                                                   200 list-feature-types              " +
				"   1.2 ms  id-2\n" +
				"10:20:30 GET     /a                                                   500 list-feature-types                 1.2 ms  id-1\n" +
				"         ERROR request  function=list-feature-types  error=InternalError\n" +
				"           cause: it  broke\n" +
				"           at line 7\n" +
				"TIME ERROR of no request  function=list-feature-types\n" +
				"           cause: \"x\"\n" +
				"         WARN late  function=list-feature-types\n",
		},
		{
			name: "events", do: func(c *terminal.Output) {
				log := func(id string, level, least slog.Level) {
					ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: id})
					//nolint:sloglint // CloudWatch's key
					c.EventLogger("f", least).Log(ctx, level, "logged", "_aws", "metrics", "flagged", 1, "pages", 32)
				}
				log("shown", slog.LevelInfo, slog.LevelInfo)
				log("quiet", slog.LevelInfo, slog.LevelWarn)
				log("warned", slog.LevelWarn, slog.LevelWarn)
				c.Log(event("shown", nil, false))
				c.Log(event("quiet", nil, true))
				c.Log(event("warned", nil, true))
				c.Log(event("failed", errors.New("no table"), true))
			},
			want: "10:20:30 event   log L, 2 lines                                       ok  f                               " +
				"   1.0 ms  shown\n" +
				"         INFO logged  function=f  flagged=1\n" +
				"10:20:30 event   log L, 2 lines                                       ok  f                                  1.0 ms  warned\n" +
				"         WARN logged  function=f  flagged=1\n" +
				"10:20:30 event   log L, 2 lines                                       ERR f                                  1.0 ms  failed\n" +
				"           cause: no table\n",
		},
		{
			name: "colors", color: true, do: func(c *terminal.Output) {
				c.Log(request("i", "/", 503))
				c.Logger(slog.LevelInfo).Warn("the engine ended", "reason", "killed")
			},
			want: "10:20:30 GET     /                                                    \x1b[31m503\x1b[0m " +
				"list-feature-types            " +
				"\x1b[2m     1.2 ms  i\x1b[0m\nTIME \x1b[31mWARN\x1b[0m the engine ended  reason=killed\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tt.do(terminal.New(&out, terminal.Options{Terminal: true, Color: tt.color, Now: now}))
			lines := strings.SplitAfter(out.String(), "\n")
			for i, line := range lines { // a record has the time at which it was created
				if first, rest, _ := strings.Cut(line, " "); len(first) == len("15:04:05") &&
					!strings.HasPrefix(line, "10:20:30 ") {
					lines[i] = "TIME " + rest
				}
			}
			assert.Equal(t, tt.want, strings.Join(lines, ""))
		})
	}
}

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
	want := `{TIME,"level":"INFO","msg":"request","method":"GET","path":"/api","status":200,"function":"list-feature-types","milliseconds":1.234,"requestId":"id-1"}
{TIME,"level":"ERROR","msg":"request failed","method":"GET","path":"/user:v2_AAAAAAAAAAEAAAAAAAAAAQ_[redacted]","status":500,"function":"list-feature-types","milliseconds":1.234,"requestId":"id-2","cause":"panic: x\nline 2"}
{TIME,"level":"INFO","msg":"request","function":"f","apiRequestId":"id-1"}
{TIME,"level":"INFO","msg":"counted","function":"g","requestId":"id-3"}
`
	got := regexp.MustCompile(`"time":"[^"]+"`).ReplaceAllString(out.String(), "TIME")
	assert.Equal(t, want, got)
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, strings.NewReplacer("ENCODED", strings.ReplaceAll(token, "_", "%5F"), "LONG",
		strings.Repeat("a", 10_000)).Replace(`
		# path | what the line contains
		"/\x1b[2Jx" | "/\\x1b[2Jx "
		"/a\nready http://evil" | "/a\\nready http://evil "
		"/\"größe\"\xff" | "/\"größe\"\\xff "
		/ENCODED | "[redacted] "
		/eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln | "/[redacted] "
		/LONG | "aaa… "
	`)) {
		var out bytes.Buffer
		terminal.New(&out, terminal.Options{Terminal: true, Now: now}).Log(request("id", row[0], 404))
		line := out.String()
		if !strings.Contains(line, row[1]) || strings.Count(line, "\n") != 1 || strings.Contains(line, "\x1b") ||
			len(line) > 300 {
			t.Errorf("%q, want %q in it", line, row[1])
		}
	}
}

func TestHeldRecordsAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := terminal.New(&out, terminal.Options{Terminal: true, Now: now})
	for i := range 1025 {
		c.FunctionLogger("f", slog.LevelWarn).Error("x", "apiRequestId", fmt.Sprint("id-", i))
	}
	if got := strings.Count(out.String(), "\n"); got != 1024 {
		t.Errorf("%d lines", got)
	}
}
