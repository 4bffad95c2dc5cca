package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local/engine/enginetest"
	testprocess "toggleadmin/test/process"
)

func TestSignalsEndItAndTheEngine(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := serve(t, filepath.Join(t.TempDir(), "data"))
			p.list(t) // leaves a connection open
			engine := p.enginePID(t)
			before := time.Now()
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := <-p.ended; err != nil {
				t.Errorf("it ended with %v\n%s", err, p.stderr)
			}
			if took := time.Since(before); took > 2*time.Second || testprocess.Runs(engine) {
				t.Errorf("it took %s, the engine runs: %v", took, testprocess.Runs(engine))
			}
			for line := range strings.Lines(p.stderr.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("no line of JSON: %q", line)
				}
			}
		})
	}
}

// A request that hangs, by an engine that is stopped, must not keep the program from ending in time.
func TestASignalEndsItWhileTheEngineHangs(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	engine := p.enginePID(t)
	if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = p.send(t.Context(), "GET", "/api/admin/feature-types", p.Users[0].PAT, "")
	}()
	before := time.Now()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	limit := 2 * time.Second
	if enginetest.DynamoDBLocal() {
		limit = 3 * time.Second // it is killed after 1.7 s, and the system takes its time to end a large process of Java
	}
	if took := time.Since(before); took > limit || testprocess.Runs(engine) {
		t.Errorf("it took %s, the engine runs: %v", took, testprocess.Runs(engine))
	}
	<-answered
}

func TestAKilledEngineIsStartedAgainWhileServing(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	for days := 1; days <= 3; days++ {
		body := fmt.Sprintf(`{"lifetimeDays":%d}`, days)
		if status, answer, err := p.send(t.Context(), "PUT", "/api/admin/feature-types/release/lifetime", p.APIToken, body); status != 200 {
			t.Fatalf("%d %s %v", status, answer, err)
		}
		killed := p.enginePID(t)
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		status, answer, err := p.send(t.Context(), "GET", "/api/admin/feature-types", p.APIToken, "")
		if enginetest.DynamoDBLocal() { // it needs seconds, for which the authorizer does not wait; dynoxide is back for the very next request
			enginetest.Eventually(t, "the engine is back", func() bool {
				status, answer, err = p.send(t.Context(), "GET", "/api/admin/feature-types", p.APIToken, "")
				return err == nil && status == 200
			})
		}
		if want := fmt.Sprintf(`"lifetimeDays":%d`, days); status != 200 || !strings.Contains(answer, want) {
			t.Errorf("%d %s %v", status, answer, err)
		}
	}
	if log := p.stderr.String(); strings.Count(log, "the engine ended and is started again") != 3 {
		t.Errorf("stderr:\n%s", log)
	}
}

func TestAnEngineThatCannotBeStartedAgainEndsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, dir)
	if err := errors.Join(
		syscall.Kill(p.enginePID(t), syscall.SIGSTOP), // so that it does not come back before the damage is done
		os.Remove(filepath.Join(dir, enginetest.Database())),
		os.Mkdir(filepath.Join(dir, enginetest.Database()), 0o700),
		syscall.Kill(p.enginePID(t), syscall.SIGKILL),
	); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err == nil {
		t.Error("it ended with status 0")
	}
	// Not always the last line: a function that was still at work when everything ended may speak once more.
	lines := strings.Split(p.stderr.String(), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "local: ") })
	if i < 0 || !strings.HasPrefix(lines[i], "local: the engine died") || !strings.Contains(lines[i], "make reset") {
		t.Errorf("no line says why it ended and what to do:\n%s", p.stderr.String())
	}
}

func TestAfterKillTheNextStartServes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, dir)
	engine := p.enginePID(t)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err == nil {
		t.Error("it ended with status 0")
	}
	again := serve(t, dir)
	again.list(t)
	if again.APIToken != p.APIToken {
		t.Error("the credentials are others")
	}
	enginetest.Eventually(t, "the first engine has ended", func() bool { return !testprocess.Runs(engine) })
}

func TestALeftBehindEngineIsEndedAtTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, dir)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Fatal(err)
	}
	pid, ended := enginetest.LeaveBehind(t, dir)
	again := serve(t, dir)
	t.Logf("process %d, left behind, ended with %v", pid, <-ended) // it may not have been ready for the signal
	again.list(t)
	if !strings.Contains(again.stderr.String(), "left behind") {
		t.Errorf("stderr %q", again.stderr)
	}
}
