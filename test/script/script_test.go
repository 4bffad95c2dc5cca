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
	"toggleadmin/test/localtest"
	"toggleadmin/test/script"
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
	const list = "GET /api/admin/feature-types as admin\n"
	for name, tt := range map[string]struct{ script, want string }{
		"status":            {list + "status 201", "the status is 200"},
		"negated":           {list + "! status 200", "it succeeded"},
		"negated bad usage": {list + "! status", "wrong arguments"},
		"json value":        {list + "json version 2", "version is 1"},
		"json type":         {list + `json version "1"`, "version is 1"},
		"json path":         {list + "json types.7.id release", "types.7.id does not exist"},
		"json members":      {list + "json types.0 members id name description", "types.0 is"},
		"json match":        {list + "json types.0.id matches ^x", "types.0.id is release"},
		"json absent":       {list + "json version absent", "version is 1"},
		"header value":      {list + "header Cache-Control private", `"no-store"`},
		"header missing":    {list + "header Retry-After matches .*", `the header Retry-After is ""`},
		"header absent":     {list + "header Cache-Control absent", `"no-store"`},
		"body":              {list + "body empty", "bytes, want 0"},
		"not an error":      {list + "error NotFoundError text", "not an error object"},
		"error text":        {"GET /x as admin\nerror NotFoundError text", `the error is NotFoundError: "The path`},
		"error name":        {"GET /x as admin\nerror ValidationError matches .", "the error is NotFoundError"},
		"error match":       {"GET /x as admin\nerror NotFoundError matches ^x", "the error is NotFoundError"},
		"error pointer": {"PUT /api/admin/feature-types/release/lifetime as admin {}\nerror ValidationError names /body",
			"`/body/lifetimeDays`"},
		"unauthenticated": {list + "unauthenticated", "want 401"},
		"capture":         {list + "capture X json nothing", "nothing does not exist"},
		"credential":      {"GET /x as nobody", `unknown credential "nobody"`},
		"condition":       {"[moonlight] " + list, `unknown condition "moonlight"`},
		"no request":      {"status 200", "the status is 0"},
		"until":           {"until 404 within 1ms " + list, "not 404 within 1ms"},
		"secret": {
			"POST /api/admin/service-account/4/token as admin " + `{"description": "d", "expiresAt": "$TOMORROW"}` +
				"\nstatus 200", "v2_[redacted]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if log, failed := run(t, e, tt.script); !failed || !strings.Contains(log, tt.want) {
				t.Errorf("failed: %t, without %q:\n%s", failed, tt.want, log)
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
	if log, failed := run(t, serve(t), create+"fill-tokens $SERVICE_ACCOUNT\nstatus 403\n"+change,
		create+"GET /api/admin/feature-types as admin\njson types[id=release].lifetimeDays 40"); failed {
		t.Error(log)
	}
}

func TestUndocumentedResponse(t *testing.T) {
	t.Parallel()
	e := serve(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, `{"message":"no"}`)
	}))
	t.Cleanup(server.Close)
	e.BaseURL = server.URL
	if log, failed := run(t, e, "GET /api/admin/context as admin"); !failed ||
		!strings.Contains(log, "api/openapi.yaml does not declare this") {
		t.Errorf("failed: %t\n%s", failed, log)
	}
}

// sam local sends its own responses to invalid credentials. Ours is a failure there.
func TestSAMEnvironment(t *testing.T) {
	t.Parallel()
	e := serve(t)
	e.Name = script.SAM
	log, failed := run(t, e, "GET /api/admin/context as none\nunauthenticated")
	if !failed || !strings.Contains(log, "sam local returns its own 403") {
		t.Errorf("failed: %t\n%s", failed, log)
	}
}
