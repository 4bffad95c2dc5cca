package sdk_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

// installedEdge is the variable with the path of the program of Unleash Edge.
const installedEdge = "TEST_EDGE"

// edge is Unleash Edge, which can be stopped and started again at the same address.
type edge struct {
	*testing.T
	url       string
	arguments []string
	stop      func()
}

// newEdge starts Edge in a mode: "edge" or "offline", with its options.
func newEdge(t *testing.T, mode ...string) *edge {
	t.Helper()
	port := process.FreePort(t)
	e := &edge{
		T: t, url: "http://127.0.0.1:" + port,
		arguments: append([]string{"--interface=127.0.0.1", "--port=" + port}, mode...),
	}
	e.start()
	t.Cleanup(func() { e.stop() })
	return e
}

func (e *edge) start() {
	e.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	command := exec.CommandContext(ctx, os.Getenv(installedEdge), e.arguments...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // it saves its state
	command.WaitDelay = 10 * time.Second                                             // in the mode offline it may never end
	command.Env = append(os.Environ(), "hostname="+hostName)
	command.Stdout, command.Stderr = e.Output(), e.Output()
	assert.OK(e.T, command.Start())
	e.stop = func() {
		cancel()
		_ = command.Wait() // the error is that of the context
		e.stop = func() {}
	}
	process.Await(e, "Edge is ready", 20*time.Millisecond, timeout, func() bool {
		request, err := http.NewRequestWithContext(e.Context(), http.MethodGet, e.url+"/internal-backstage/ready", http.NoBody)
		assert.OK(e.T, err)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// An SDK of each kind of token gets the toggles of the service through Edge, sees changes, and reports counts. While the
// service is down, Edge and applications start with the last state.
func TestEdge(t *testing.T) {
	t.Parallel()
	needs(t, installedEdge)
	for _, sdk := range sdks() {
		if !slices.Contains([]string{"unleash-client 6", "unleash-proxy-client 3"}, sdk.name) {
			continue
		}
		t.Run(sdk.name, func(t *testing.T) {
			t.Parallel()
			needs(t, sdk.installed)
			testEdge(t, sdk)
		})
		t.Run(sdk.name+" offline", func(t *testing.T) {
			t.Parallel()
			needs(t, sdk.installed)
			testOfflineEdge(t, sdk)
		})
	}
}

func testEdge(t *testing.T, sdk sdk) {
	t.Helper()
	service := newService(t)
	toggles := service.createToggles()
	edge := newEdge(t, "edge", "--strict", "--upstream-url="+service.url,
		"--tokens="+service.token(clienttokentable.Backend), "--backup-folder="+t.TempDir(),
		"--features-refresh-interval-seconds=1", "--metrics-interval-seconds=1", "--token-revalidation-interval-seconds=1")
	app := start(t, sdk, edge.url, service.token(sdk.token), requestsOf(toggles))
	norway, sweden := expected(sdk.name, toggles)
	app.await("the results in Sweden", inSweden(), sweden)
	app.await("the results in Norway", inNorway(), norway)
	service.turn(switched, "on")
	norway[switched] = "on"
	app.await("the toggle that was turned on", inNorway(), norway)
	app.end()

	service.stop()
	edge.stop()
	edge.start()
	app = start(t, sdk, edge.url, service.token(sdk.token), requestsOf(toggles))
	app.await("the results while the service is down", inNorway(), norway)

	service.start()
	service.turn(switched, "off")
	norway[switched] = "off"
	app.await("the toggle that was turned off after the restart", inNorway(), norway)
	process.Await(t, "counts of the toggle", 100*time.Millisecond, timeout, func() bool {
		return service.counted(switched) > 0
	})
	app.end()
	service.checkStatuses()
}

// testOfflineEdge serves what an application downloads from the service.
func testOfflineEdge(t *testing.T, sdk sdk) {
	t.Helper()
	service := newService(t)
	toggles := service.createToggles()
	norway, sweden := expected(sdk.name, toggles)
	norway[switched], sweden[switched] = "on", "on"
	service.turn(switched, "on") // the last change
	file := filepath.Join(t.TempDir(), "features.json")
	process.Await(t, "the toggle is on", 50*time.Millisecond, timeout, func() bool {
		return service.download(file)
	})
	service.stop()
	edge := newEdge(t, "offline", "--bootstrap-file="+file, "--client-tokens="+service.token(clienttokentable.Backend),
		"--frontend-tokens="+service.token(clienttokentable.Frontend))
	app := start(t, sdk, edge.url, service.token(sdk.token), requestsOf(toggles))
	app.await("the results in Sweden", inSweden(), sweden)
	app.await("the results in Norway", inNorway(), norway)
	app.end()
}

// download saves the response to a poll, and reports whether the switched toggle is on in it.
func (s *service) download(file string) bool {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+"/api/client/features", http.NoBody)
	assert.OK(s.T, err)
	request.Header.Set("Authorization", s.token(clienttokentable.Backend))
	response, err := http.DefaultClient.Do(request)
	assert.OK(s.T, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	assert.OK(s.T, err, os.WriteFile(file, body, 0o600))
	var toggles struct {
		Features []struct {
			Name    string
			Enabled bool
		}
	}
	assert.OK(s.T, json.Unmarshal(body, &toggles))
	for _, toggle := range toggles.Features {
		if toggle.Name == switched {
			return toggle.Enabled
		}
	}
	return false
}
