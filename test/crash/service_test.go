// Package crash_test kills the local service under load and checks the data after a restart. Every acknowledged write
// must exist. The number of counted requests must be between the numbers of answered and of sent requests.
//
// The service is a process that runs what `make run` runs, with its data in a folder.
package crash_test

import (
	"bufio"
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
	"slices"
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
	clients        = 16          // of TestTraffic
	configVariable = "SERVE"     // makes the test binary serve with this local.Config, in JSON
	timeout        = time.Minute // limits each wait, which usually takes milliseconds
)

func TestMain(m *testing.M) {
	c := local.Config{Stdout: os.Stdout, Stderr: os.Stderr}
	if json.Unmarshal([]byte(os.Getenv(configVariable)), &c) != nil {
		m.Run()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := local.Run(ctx, c)
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

// start starts the service in a process group of its own and waits until it is ready. The end of the test kills it. An
// empty URL is no webhook.
func start(t *testing.T, dir, webhookURL string) *service {
	t.Helper()
	enginetest.Program(t)
	s := &service{t: t, dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients},
		Timeout: timeout}}
	t.Cleanup(s.client.CloseIdleConnections)
	log, err := os.OpenFile(dir+".log", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	assert.OK(t, err)
	defer log.Close()
	config := map[string]string{"Template": localtest.Template(t), "DataDir": dir, "WebhookURL": webhookURL}
	if webhookURL != "" {
		config["WebhookEvents"] = "*"
	}
	text, err := json.Marshal(config)
	assert.OK(t, err)
	s.command = exec.CommandContext(t.Context(), os.Args[0])
	s.command.Env = append(os.Environ(), configVariable+"="+string(text))
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
	content, err := os.ReadFile(filepath.Join(s.dir, "engine.pid"))
	assert.OK(s.t, err)
	engine, err := strconv.Atoi(strings.TrimSpace(string(content)))
	assert.OK(s.t, err)
	processes := []int{engine, -s.command.Process.Pid}
	if !engineFirst {
		slices.Reverse(processes)
	}
	for _, pid := range processes {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	_ = s.command.Wait()
	s.await("the end of the engine", func() bool { return !process.Runs(engine) })
}

// stop ends the service with SIGTERM, which must succeed.
func (s *service) stop() {
	s.t.Helper()
	assert.OK(s.t, s.command.Process.Signal(syscall.SIGTERM))
	assert.OK(s.t, s.command.Wait())
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

// get gets a resource, which must succeed, and decodes the response.
func (s *service) get(path string, into any) {
	s.t.Helper()
	status, response, err := s.exchange(http.MethodGet, path, s.APIToken, "")
	if err = errors.Join(err, json.Unmarshal(response, into)); err != nil || status != http.StatusOK {
		s.t.Errorf("%s: %d %v\n%s", path, status, err, response)
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
