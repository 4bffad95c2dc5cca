package script

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/helper/openapi"
)

// Run runs the scripts of a folder one after another, each as a subtest with the name of its file.
func Run(t *testing.T, e Environment, dir string) {
	t.Helper()
	run(t.Context(), sequential{t}, e, dir)
}

func run(ctx context.Context, t testscript.T, e Environment, dir string) {
	validator, err := openapi.Load()
	if err = errors.Join(err, e.check()); err != nil {
		t.Fatal(err)
	}
	testscript.RunT(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Condition:          e.condition,
		Cmds:               Commands(),
		Setup:              func(env *testscript.Env) error { return Setup(ctx, env, e, validator) },
	})
}

// Setup prepares a script that runs against a service: the session that Commands use, and the predefined variables.
func Setup(ctx context.Context, env *testscript.Env, e Environment, validator *openapi.Validator) error {
	base, err := url.Parse(e.BaseURL)
	if err != nil || base.Host == "" {
		return fmt.Errorf("the address %q is not a URL with a host", e.BaseURL)
	}
	applications, err := url.Parse(e.ClientURL)
	if err != nil {
		return fmt.Errorf("the address for applications: %w", err)
	}
	s := newSession(ctx, e, base, applications, validator)
	env.Values[sessionKey{}] = s
	env.Defer(func() {
		if err := s.cleanUp(); err != nil {
			env.T().Fatal(fmt.Sprintf("clean up: %v", err))
		}
	})
	// Credentials are not among the variables, because a verbose run prints these.
	now := time.Now().UTC()
	env.Setenv("RANDOM", strings.ToLower(rand.Text()[:10]))
	env.Setenv("TOMORROW", now.AddDate(0, 0, 1).Format(time.RFC3339))
	env.Setenv("YESTERDAY", now.AddDate(0, 0, -1).Format(time.RFC3339))
	env.Setenv("MONTH", now.Format("2006-01"))
	env.Setenv("BASE_URL", e.BaseURL)
	env.Setenv("SERVICE_ACCOUNT", strconv.FormatInt(e.Credentials.ServiceAccounts[0].ID, 10))
	for _, name := range credentials[1:] {
		env.Setenv(strings.ToUpper(name)+"_ID", strconv.FormatInt(e.user(name).ID, 10))
	}
	return nil
}

// errUsage is a command with arguments that it does not take.
var errUsage = errors.New("wrong arguments: package script describes the commands")

type command = func(s *session, args []string) error

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

// Commands returns the commands that the package comment describes.
func Commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range map[string]command{
		"status": (*session).status, "header": (*session).header, "json": (*session).json, "body": (*session).body,
		"error":           (*session).error,
		"unauthenticated": (*session).unauthenticated, "capture": (*session).capture, "until": (*session).until,
		"clock": (*session).clock, "keep-lifetime": (*session).keepLifetime,
	} {
		all[name] = adapt(run)
	}
	for _, method := range methods {
		all[method] = adapt(func(s *session, args []string) error { return s.request(method, args) })
	}
	return all
}

// adapt makes a command fail its script. Negated, it fails unless the command returns a mismatch.
func adapt(run command) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, negated bool, args []string) {
		s, _ := ts.Value(sessionKey{}).(*session)
		s.ts = ts
		before := s.last
		err := run(s, args)
		if s.last != before {
			ts.Logf("< %s", s.last)
		}
		if _, expected := errors.AsType[mismatch](err); negated && expected {
			return
		}
		if negated && err == nil {
			err = errors.New("it succeeded")
		}
		if err != nil {
			ts.Fatalf("%v\nlast response: %v", err, s.last)
		}
	}
}

// sequential runs scripts one after another: they share accounts, and sam local does not support many concurrent
// requests.
type sequential struct{ *testing.T }

func (s sequential) Parallel() {}

func (s sequential) Verbose() bool { return testing.Verbose() }

func (s sequential) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(sequential{t}) })
}
