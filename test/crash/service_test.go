// Package crash_test kills the local service under load and checks the data after a restart. Every acknowledged write
// must exist. The number of counted requests must be between the numbers of answered and of sent requests.
//
// The service is a process that runs what `make run` runs, with its data in a folder.
package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/test/assert"
	"toggleadmin/test/enginetest"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

const (
	clients         = 16               // of TestTraffic
	dataDirVariable = "SERVE_DATA_DIR" // makes the test binary serve from this folder
	webhookVariable = "SERVE_WEBHOOK"  // the URL that receives all events; empty: none
	timeout         = time.Minute      // limits each wait, which usually takes milliseconds
)

func TestMain(m *testing.M) {
	dir := os.Getenv(dataDirVariable)
	if dir == "" {
		m.Run()
		return
	}
	events := ""
	if os.Getenv(webhookVariable) != "" {
		events = "*"
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := local.Run(ctx, local.Config{
		Template: os.Getenv("TEMPLATE"), DataDir: dir, Stdout: os.Stdout, Stderr: os.Stderr,
		WebhookURL: os.Getenv(webhookVariable), WebhookEvents: events,
	})
	stop()
	if err != nil {
		panic(err)
	}
}

// service is a running service.
type service struct {
	local.Running
	t       *testing.T
	dir     string
	command *exec.Cmd
	client  *http.Client
}

// start starts the service in a process group of its own and waits until it is ready. The end of the test kills it.
func start(t *testing.T, dir string, variables ...string) *service {
	t.Helper()
	enginetest.Program(t)
	s := &service{t: t, dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients},
		Timeout: timeout}}
	t.Cleanup(s.client.CloseIdleConnections)
	log, err := os.OpenFile(dir+".log", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	assert.OK(t, err)
	defer log.Close()
	s.command = exec.CommandContext(t.Context(), os.Args[0])
	s.command.Env = append(append(os.Environ(), dataDirVariable+"="+dir, "TEMPLATE="+localtest.Template(t)), variables...)
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.command.Stderr = log
	output, input, err := os.Pipe()
	assert.OK(t, err)
	t.Cleanup(func() { output.Close() })
	s.command.Stdout = input
	assert.OK(t, s.command.Start())
	input.Close()
	t.Cleanup(func() { s.kill(true) })
	if line, err := bufio.NewReader(output).ReadString('\n'); !strings.HasPrefix(line, "ready ") {
		content, _ := os.ReadFile(log.Name())
		t.Fatalf("not ready but %q, %v\n%s", line, err, content[max(0, len(content)-4000):])
	}
	content, err := os.ReadFile(filepath.Join(dir, "local.json"))
	assert.OK(t, err, json.Unmarshal(content, &s.Running))
	return s
}

// kill sends SIGKILL to the service and its engine and waits for the end of both.
func (s *service) kill(engineFirst bool) {
	if s.command.ProcessState != nil {
		return
	}
	engine := s.engine()
	kills := []func(){s.killEngine, func() { _ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) }}
	if !engineFirst {
		kills[0], kills[1] = kills[1], kills[0]
	}
	kills[0]()
	kills[1]()
	_ = s.command.Wait()
	s.await("the end of the engine", func() bool { return !s.isEngine(engine) })
}

// stop ends the service with SIGTERM, which must succeed.
func (s *service) stop() {
	s.t.Helper()
	assert.OK(s.t, s.command.Process.Signal(syscall.SIGTERM))
	assert.OK(s.t, s.command.Wait())
}

func (s *service) killEngine() {
	if pid := s.engine(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// engine returns the process ID of the engine, or 0 if it does not run.
func (s *service) engine() int {
	content, _ := os.ReadFile(filepath.Join(s.dir, "engine.pid"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil && s.isEngine(pid) {
		return pid
	}
	return 0
}

// isEngine reports whether a process is the engine of this data folder.
func (s *service) isEngine(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return pid > 0 && err == nil && bytes.Contains(line, []byte(filepath.Join(s.dir, "dynamodb.db")))
}

func (s *service) await(what string, condition func() bool) {
	s.t.Helper()
	process.Await(s.t, what, time.Millisecond, timeout, func() bool { return condition() || s.t.Failed() })
}

// exchange sends a request and reads the complete response.
func (s *service) exchange(method, path, token, body string) (status int, response []byte, err error) {
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Type", "application/json")
	received, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer received.Body.Close()
	response, err = io.ReadAll(received.Body)
	return received.StatusCode, response, err
}

// get sends a request as the administrator, which must succeed, and decodes the response.
func (s *service) get(method, path, token, body string, into any) {
	s.t.Helper()
	status, response, err := s.exchange(method, path, token, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	if err = errors.Join(err, json.Unmarshal(response, into)); err != nil {
		s.t.Errorf("%s %s: %v\n%s", method, path, err, response)
	}
}

// load is a set of clients, each of which sends one request at a time.
type load struct {
	*service
	acknowledged atomic.Int64
	running      sync.WaitGroup
}

// add starts a client that sends requests until one fails.
func (l *load) add(send func() (ok bool)) {
	l.running.Go(func() {
		for send() {
		}
	})
}

// awaitWrites waits for n acknowledged writes.
func (l *load) awaitWrites(n int64) {
	l.t.Helper()
	l.await(fmt.Sprint(n, " acknowledged writes"), func() bool { return l.acknowledged.Load() >= n })
}
