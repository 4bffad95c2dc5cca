// The scripts in testdata run the program as a process: the test binary, which calls main if its name is local. Those in
// rejected do not start, those in service do.
package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	main "toggleadmin/cmd/local"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"local": main.Main})
}

func TestRejected(t *testing.T) {
	t.Parallel()
	run(t, "testdata/rejected")
}

func TestService(t *testing.T) {
	t.Parallel()
	enginetest.Program(t) // skips the test if the engine is not the program's own
	run(t, "testdata/service")
}

func run(t *testing.T, dir string) {
	t.Helper()
	root := filepath.Dir(localtest.Template(t))
	process.DependOn(t, filepath.Join(root, "template.yaml"), filepath.Join(root, "delivery.yaml"),
		filepath.Join(root, "scripts", "reset.sh"))
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		env.Vars = append(env.Vars, "PORT=0", "CLIENT_PORT=0", "DATA_DIR=data", "ROOT="+root,
			"TEMPLATE="+filepath.Join(root, "template.yaml"))
		return nil
	}, Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
		// rejected STATUS TEXT PROGRAM …: runs a program that must fail with one line that contains the text
		"rejected": rejected,
		"request":  request, // request: sends requests until one succeeds, and sets PID, BASE_URL and USED_PORT
		"signal":   signal,  // signal NAME FILE: sends a signal to the process whose id the file contains
		"ended":    ended,   // ended FILE: waits for the end of that process
	}})
}

func rejected(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[2], args[3:]...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	line := ts.ReadFile("stderr")
	if !ok || strconv.Itoa(exit.ExitCode()) != args[0] || !strings.HasPrefix(line, "local: ") ||
		strings.Count(line, "\n") != 1 || !strings.Contains(line, args[1]) || ts.ReadFile("stdout") != "" {
		ts.Fatalf("%v, want status %s and %q in one line", err, args[0], args[1])
	}
}

// request sends requests that need the engine.
func request(ts *testscript.TestScript, _ bool, _ []string) {
	var service local.Running
	await(ts, func() bool {
		content, err := os.ReadFile(ts.MkAbs("data/local.json"))
		if err != nil || json.Unmarshal(content, &service) != nil {
			return false
		}
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, service.BaseURL+"/api/admin/feature-types",
			http.NoBody)
		ts.Check(err)
		r.Header.Set("Authorization", service.APIToken)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body) // leaves the connection open
		return err == nil && response.StatusCode == http.StatusOK
	})
	ts.Setenv("PID", ts.ReadFile("data/lock"))
	ts.Setenv("BASE_URL", service.BaseURL)
	ts.Setenv("USED_PORT", service.BaseURL[strings.LastIndex(service.BaseURL, ":")+1:])
}

func await(ts *testscript.TestScript, condition func() bool) {
	for deadline := time.Now().Add(time.Minute); !condition(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("not within a minute")
		}
	}
}

func pid(ts *testscript.TestScript, file string) int {
	id, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(file)))
	ts.Check(err)
	return id
}

func signal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "STOP": syscall.SIGSTOP,
		"KILL": syscall.SIGKILL}
	ts.Check(syscall.Kill(pid(ts, args[1]), signals[args[0]]))
}

func ended(ts *testscript.TestScript, _ bool, args []string) {
	id := pid(ts, args[0])
	await(ts, func() bool { return !process.Runs(id) })
}
