// Package crash_test kills and freezes the local service under load and checks the data afterwards. Every acknowledged
// write must exist. The number of counted requests must be between the numbers of answered and of sent requests.
//
// The service is a process that runs what `make run` runs, with its data in a folder.
package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
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
	data    *installation.Installation
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
	return startWith(t, dir, map[string]any{"Template": localtest.Template(t), "WebhookURL": webhookURL,
		"WebhookEvents": strings.Repeat("*", min(1, len(webhookURL)))})
}

// startWith starts the service with a configuration and its data in a folder.
func startWith(t *testing.T, dir string, configuration map[string]any) *service {
	t.Helper()
	s := &service{t: t, dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients},
		Timeout: timeout}}
	t.Cleanup(s.client.CloseIdleConnections)
	configuration["DataDir"] = dir
	config, err := json.Marshal(configuration)
	assert.OK(t, err)
	var log process.Output
	s.command = exec.CommandContext(t.Context(), os.Args[0])
	s.command.Env = append(os.Environ(), configVariable+"="+string(config))
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.command.Stderr = &log
	output, err := s.command.StdoutPipe()
	assert.OK(t, err, s.command.Start())
	t.Cleanup(func() { s.kill(true) })
	if line, err := bufio.NewReader(output).ReadString('\n'); !strings.HasPrefix(line, "ready ") {
		t.Fatalf("not ready but %q, %v\n%s", line, err, &log)
	}
	content, err := os.ReadFile(filepath.Join(dir, "local.json"))
	assert.OK(t, err, json.Unmarshal(content, &s.Running))
	s.data, err = installation.OpenLocal(t.Context(), dir)
	assert.OK(t, err)
	return s
}

// kill sends SIGKILL to the service and its engine and waits for the end of both. A service that uses the engine of
// another one has none.
func (s *service) kill(engineFirst bool) {
	if s.command.ProcessState != nil {
		return
	}
	content, err := os.ReadFile(filepath.Join(s.dir, "engine.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL)
		_ = s.command.Wait()
		return
	}
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
