package script

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/openapi"
)

// Run runs every script of a directory on a ground, one after the other: each as a subtest with the file's name.
func Run(t *testing.T, ground Ground, dir string) {
	t.Helper()
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run(t.Context(), sequential{t}, validator, ground, dir)
}

func run(ctx context.Context, t testscript.T, validator *openapi.Validator, ground Ground, dir string) {
	if err := ground.check(); err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(strings.TrimSuffix(ground.BaseURL, "/"))
	if err != nil || base.Host == "" {
		t.Fatal(fmt.Sprintf("the address %q is no URL with a host", ground.BaseURL))
	}
	testscript.RunT(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Condition:          ground.condition,
		Cmds:               commands(),
		Setup: func(env *testscript.Env) error {
			s := newSession(ctx, ground, base, validator)
			env.Values[sessionKey{}] = s
			env.Defer(func() {
				if err := s.cleanUp(); err != nil {
					env.T().Fatal(fmt.Sprintf("clean up: %v", err))
				}
			})
			setVariables(env, ground)
			return nil
		},
	})
}

// setVariables sets what scripts have from the start. Credentials are not among them: a verbose run prints the variables.
func setVariables(env *testscript.Env, ground Ground) {
	now := ground.Now().UTC()
	env.Setenv("RANDOM", strings.ToLower(rand.Text()[:10]))
	env.Setenv("TOMORROW", now.AddDate(0, 0, 1).Format(time.RFC3339))
	env.Setenv("YESTERDAY", now.AddDate(0, 0, -1).Format(time.RFC3339))
	env.Setenv("MONTH", now.Format("2006-01"))
	env.Setenv("BASE_URL", ground.BaseURL)
	env.Setenv("SERVICE_ACCOUNT", strconv.FormatInt(ground.Credentials.ServiceAccounts[0].ID, 10))
	for _, name := range []string{"admin", "editor", "viewer"} {
		user, _ := ground.Credentials.user(name)
		env.Setenv(strings.ToUpper(name)+"_ID", strconv.FormatInt(user.ID, 10))
	}
}

type command = func(ts *testscript.TestScript, neg bool, args []string)

// commands is the vocabulary, as doc.go describes it.
func commands() map[string]command {
	all := map[string]command{
		"status":          cmdStatus,
		"header":          cmdHeader,
		"json":            cmdJSON,
		"body":            cmdBody,
		"error":           cmdError,
		"unauthenticated": cmdUnauthenticated,
		"capture":         cmdCapture,
		"until":           cmdUntil,
		"clock":           cmdClock,
		"keep-lifetime":   cmdKeepLifetime,
		"fill-tokens":     cmdFillTokens,
	}
	maps.Insert(all, func(yield func(string, command) bool) {
		for _, method := range methods() {
			if !yield(method, requestCommand(method)) {
				return
			}
		}
	})
	return all
}

func methods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace,
	}
}

// sequential makes scripts run one after the other: they share accounts, and sam local bears no crowd.
type sequential struct{ *testing.T }

func (s sequential) Parallel() {}

func (s sequential) Verbose() bool { return testing.Verbose() }

func (s sequential) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) {
		f(sequential{t})
	})
}

type sessionKey struct{}

// of gives the session of a script.
func of(ts *testscript.TestScript) *session {
	s, ok := ts.Value(sessionKey{}).(*session)
	if !ok {
		ts.Fatalf("the script has no session")
	}
	return s
}

// session is the state of one script: the client, the last answer and what is to be cleaned up. One goroutine uses it.
type session struct {
	ctx        context.Context //nolint:containedctx // commands get no context; this is the test's
	ground     Ground
	base       *url.URL
	client     *http.Client
	violations []error // of the API's document, by the request under way
	last       *answer
	tokens     []token           // made by the script
	lifetimes  map[string]string // to put back: type → lifetimeDays as JSON
}

func newSession(ctx context.Context, ground Ground, base *url.URL, validator *openapi.Validator) *session {
	const patience = time.Minute // a function's first start under sam local takes seconds
	s := &session{ctx: ctx, ground: ground, base: base, lifetimes: map[string]string{}}
	s.client = &http.Client{
		Timeout:       patience,
		Transport:     validator.Transport(http.DefaultTransport, base.EscapedPath(), func(err error) { s.violations = append(s.violations, err) }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}
