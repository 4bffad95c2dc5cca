package crash_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

// TestFrozenProcess freezes one of two processes behind an address while toggles change. When it continues, it takes the
// state that it has read before for recent. An application that polls at the address does not see that state again.
func TestFrozenProcess(t *testing.T) {
	t.Parallel()
	s := start(t, filepath.Join(t.TempDir(), "data"), "")
	written := s.createToggles()
	frozen := startBeside(t, s)
	address := newAddress(t, s, frozen)
	application := make([]poller, 1)
	for range 3 {
		address.awaitState(application, written)
		for range len(address.processes) { // each process has the state
			application[0].poll(address.service)
		}
		frozen.freeze()
		address.isFrozen.Store(true)
		for i := range written {
			for range 5 {
				written[i].acknowledged++
				if !s.describe(i, written[i].acknowledged) {
					t.Fatalf("%s cannot be changed", toggleName(i))
				}
			}
		}
		address.awaitState(application, written)
		assert.OK(t, frozen.command.Process.Signal(syscall.SIGCONT))
		address.isFrozen.Store(false)
		for range 2 * len(address.processes) {
			if !application[0].poll(address.service) {
				t.Fatal("a process does not answer")
			}
		}
	}
	address.awaitState(application, written)
}

// startBeside starts another process with the data of a service. For a minute, it does not look for changes that it has
// no reason to expect, like a process whose clock does not advance while it is frozen.
func startBeside(t *testing.T, s *service) *service {
	t.Helper()
	template := localtest.ChangedTemplate(t, "  FreshnessMilliseconds:\n    Type: Number\n    Default: 250\n",
		"  FreshnessMilliseconds:\n    Type: Number\n    Default: 60000\n")
	dir := filepath.Dir(template)
	// It has the credentials of the service.
	content, err := os.ReadFile(filepath.Join(s.dir, "local.json"))
	assert.OK(t, err, os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, "local.json"), content, 0o600))
	return startWith(t, dir, map[string]any{
		"Template": template, "DynamoDBEndpoint": s.DynamoDBEndpoint, "RequestsOnly": true,
	})
}

// freeze stops the process, and waits until it is stopped.
func (s *service) freeze() {
	s.t.Helper()
	assert.OK(s.t, s.command.Process.Signal(syscall.SIGSTOP))
	s.await("the process is stopped", func() bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
		return err == nil && strings.Contains(string(line), ") T ")
	})
}

// address is an address behind which processes answer in turn. While the last one is frozen, it gets no requests.
type address struct {
	*service
	processes []*service
	isFrozen  atomic.Bool
	requests  atomic.Int64
}

func newAddress(t *testing.T, processes ...*service) *address {
	t.Helper()
	a := &address{processes: processes}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		target, err := url.Parse(a.next().ClientURL)
		if err != nil {
			t.Error(err)
		}
		r.SetURL(target)
	}})
	t.Cleanup(proxy.Close)
	copied := *processes[0]
	copied.ClientURL = proxy.URL
	a.service = &copied
	return a
}

func (a *address) next() *service {
	n := a.requests.Add(1) % int64(len(a.processes))
	if n > 0 && a.isFrozen.Load() {
		n = 0
	}
	return a.processes[n]
}
