package script_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/script"
)

// recorder is a testscript.T that records failures instead of failing the test.
type recorder struct {
	log    strings.Builder
	failed bool
}

var errStopped = errors.New("the script has stopped")

func (r *recorder) Log(args ...any)   { _, _ = fmt.Fprintln(&r.log, args...) }
func (r *recorder) FailNow()          { r.failed = true; panic(errStopped) }
func (r *recorder) Fatal(args ...any) { r.Log(args...); r.FailNow() }
func (r *recorder) Skip(args ...any)  { r.Log(args...); panic(errStopped) }
func (r *recorder) Parallel()         {}
func (r *recorder) Verbose() bool     { return false }

func (r *recorder) Run(_ string, f func(testscript.T)) {
	defer func() {
		if p := recover(); p != nil && p != errStopped { //nolint:errorlint // this value
			panic(p)
		}
	}()
	f(r)
}

// run runs scripts, given by their texts, and returns the log of the one that fails.
func run(t *testing.T, e script.Environment, texts ...string) (log string, failed bool) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".txtar")), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var r recorder
	r.Run("", func(testscript.T) { script.RunT(t.Context(), &r, e, dir) })
	return r.log.String(), r.failed
}

func serve(t *testing.T) script.Environment {
	t.Helper()
	service := localtest.Start(t, local.Config{})
	return script.Environment{Name: script.Local, BaseURL: service.BaseURL, Credentials: service.Credentials}
}

// The scripts of test/e2e show that assertions can pass. These show that each can fail.
func TestScriptsFail(t *testing.T) {
	t.Parallel()
	e := serve(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"message":"no"}`)
	}))
	t.Cleanup(server.Close)
	const (
		list     = "GET /api/admin/feature-types as admin"
		nothing  = "GET /x as admin"
		lifetime = "PUT /api/admin/feature-types/release/lifetime as admin {}"
		token    = `POST /api/admin/service-account/4/token as admin {"description": "d", "expiresAt": "$TOMORROW"}`
	)
	for _, test := range []struct {
		name  string
		lines string
		want  string // part of the log
	}{
		{"status", list + "\nstatus 201", "the status is 200"},
		{"negated", list + "\n! status 200", "it succeeded"},
		{"negated bad usage", list + "\n! status", "wrong arguments"},
		{"json value", list + "\njson version 2", "version is 1"},
		{"json type", list + "\n" + `json version "1"`, "version is 1"},
		{"json path", list + "\njson types.7.id release", "types.7.id does not exist"},
		{"json members", list + "\njson types.0 members id name description", "types.0 is"},
		{"json match", list + "\njson types.0.id matches ^x", "types.0.id is release"},
		{"json absent", list + "\njson version absent", "version is 1"},
		{"header value", list + "\nheader Cache-Control private", `header Cache-Control is "no-store"`},
		{"header missing", list + "\nheader Retry-After matches .*", `the header Retry-After is ""`},
		{"header absent", list + "\nheader Cache-Control absent", `header Cache-Control is "no-store"`},
		{"body", list + "\nbody empty", "bytes, want 0"},
		{"not an error", list + "\nerror NotFoundError text", "not an error object"},
		{"error text", nothing + "\nerror NotFoundError text", `the error is NotFoundError: "The path`},
		{"error name", nothing + "\nerror ValidationError matches .", "the error is NotFoundError"},
		{"error match", nothing + "\nerror NotFoundError matches ^x", "the error is NotFoundError"},
		{"error pointer", lifetime + "\nerror ValidationError names /body", "`/body/lifetimeDays`"},
		{"unauthenticated", list + "\nunauthenticated", "want 401"},
		{"capture", list + "\ncapture X json nothing", "nothing does not exist"},
		{"credential", "GET /x as nobody", `unknown credential "nobody"`},
		{"condition", "[moonlight] " + list, `unknown condition "moonlight"`},
		{"no request", "status 200", "the status is 0"},
		{"until", "until 404 within 1ms " + list, "not 404 within 1ms"},
		{"secret", token + "\nstatus 200", "v2_[redacted]"},
		{"undocumented response", list, "api/openapi.yaml does not declare this"},
		{"response of sam local", "GET /api/admin/context as none\nunauthenticated", "sam local returns its own 403"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := e
			switch test.name {
			case "undocumented response":
				e.BaseURL = server.URL
			case "response of sam local":
				e.Name = script.SAM
			}
			if log, failed := run(t, e, test.lines); !failed || !strings.Contains(log, test.want) {
				t.Errorf("failed: %t, without %q:\n%s", failed, test.want, log)
			}
		})
	}
}

func TestCleanUp(t *testing.T) {
	t.Parallel()
	const create = `POST /api/admin/service-account/$SERVICE_ACCOUNT/token as admin {"description": "d", "expiresAt": ` +
		`"$TOMORROW"}` + "\nstatus 201\n"
	change := "keep-lifetime release\nPUT /api/admin/feature-types/release/lifetime as admin {\"lifetimeDays\": " +
		"5}\nstatus 200\n"
	if log, failed := run(t, serve(t), create+change,
		create+"GET /api/admin/feature-types as admin\njson types[id=release].lifetimeDays 40"); failed {
		t.Error(log)
	}
}

// Every condition that does not hold in an environment has lines that assert what the environment does instead.
func TestDifferencesAreAsserted(t *testing.T) {
	t.Parallel()
	for environment, suite := range map[string]string{script.SAM: "samlocal", script.Ministack: "deploy"} {
		content, err := os.ReadFile("../../" + suite + "/testdata/differences/differences.txtar")
		assert.OK(t, err)
		for _, condition := range script.Differences(environment) {
			if !strings.Contains(string(content), "\n[!"+condition+"] ") {
				t.Errorf("%s does not assert what the environment does without %s", suite, condition)
			}
		}
	}
}
