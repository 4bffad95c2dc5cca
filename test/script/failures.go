package script

import (
	"context"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/openapi"
)

// Failure is a script that failed.
type Failure struct {
	Script string // the file's name without its extension; empty: none could be run
	Log    string // its commands so far and what is wrong; holds no secrets
}

// Failures runs the scripts of a directory as Run does and gives those that fail, for whoever expects some to. It stops after so many; with 0
// it runs them all. Nothing but an API document that cannot be read is an error.
func Failures(ctx context.Context, ground Ground, dir string, enough int) ([]Failure, error) {
	validator, err := openapi.Load(ctx)
	if err != nil {
		return nil, err
	}
	return failures(ctx, validator, ground, dir, enough), nil
}

func failures(ctx context.Context, validator *openapi.Validator, ground Ground, dir string, enough int) []Failure {
	all := &watcher{enough: enough}
	all.Run("", func(t testscript.T) { run(ctx, t, validator, ground, dir) })
	return all.failures
}

// watcher is a testscript.T that keeps what it is told instead of failing a test.
type watcher struct {
	log      strings.Builder
	failed   bool
	failures []Failure // of what ran inside
	enough   int       // failures, to run no more; 0: no number is
}

// stopped unwinds a script that has failed or is skipped.
type stopped struct{}

func (w *watcher) Skip(args ...any)  { w.Log(args...); panic(stopped{}) }
func (w *watcher) Fatal(args ...any) { w.Log(args...); w.FailNow() }
func (w *watcher) FailNow()          { w.failed = true; panic(stopped{}) }
func (w *watcher) Parallel()         {}
func (w *watcher) Log(args ...any)   { _, _ = fmt.Fprintln(&w.log, args...) }
func (w *watcher) Verbose() bool     { return false }

func (w *watcher) Run(script string, f func(testscript.T)) {
	if w.enough > 0 && len(w.failures) >= w.enough {
		return
	}
	inside := &watcher{enough: w.enough}
	defer func() { // testscript logs what a script did after it has failed
		if p := recover(); p != nil && p != (stopped{}) {
			panic(p)
		}
		w.failures = append(w.failures, inside.failures...)
		if inside.failed {
			w.failures = append(w.failures, Failure{script, inside.log.String()})
		}
	}()
	f(inside)
}
