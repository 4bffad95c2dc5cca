package browser_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

// service is a running service with its own data.
type service struct {
	local.Running
	issuer  string // URL; empty: none
	dataDir string
	log     *process.Output
	ahead   *atomic.Int64 // of its clock, in nanoseconds
}

// start starts a service. Its clock moves with the tab's advance, unless the configuration has a clock.
func start(tb testing.TB, c local.Config) *service {
	tb.Helper()
	chromium.context(tb) // skips the test before anything starts
	s := &service{issuer: c.OIDCIssuer, dataDir: c.DataDir, log: &process.Output{}, ahead: &atomic.Int64{}}
	c.Stderr = s.log
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	}
	s.Running = localtest.Start(tb, c)
	return s
}

// pat returns the PAT of a seeded person.
func (s *service) pat(name string) string {
	for _, u := range s.Users {
		if u.Name == name {
			return u.PAT
		}
	}
	return ""
}

// serves reports whether pages may send requests to a URL.
func (s *service) serves(u *url.URL) bool {
	origin := u.Scheme + "://" + u.Host
	return origin == s.BaseURL || origin == s.issuer || u.Scheme == "data" || u.Scheme == "blob" ||
		u.String() == "about:blank"
}

// create sends a POST request as admin, which must succeed, and returns the ID in the response.
func (s *service) create(tb testing.TB, path string, body map[string]any) (id any) {
	tb.Helper()
	text, err := json.Marshal(body)
	must(tb, err)
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, s.BaseURL+"/api/admin/"+path,
		strings.NewReader(string(text)))
	must(tb, err)
	request.Header.Set("Authorization", s.pat("admin"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(tb, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		tb.Fatalf("POST %s %s: %s", path, text, response.Status)
	}
	var created struct{ ID any }
	must(tb, json.NewDecoder(response.Body).Decode(&created))
	return created.ID
}

// advance moves the clock of the service.
func (b *tab) advance(duration string) {
	b.t.Helper()
	by, err := time.ParseDuration(duration)
	must(b.t, err)
	b.service.ahead.Add(int64(by))
}

// importFile imports a file of the script with toggleadmin.
func (b *tab) importFile(name string) {
	b.t.Helper()
	output, err := exec.CommandContext(b.t.Context(), "go", "run", "toggleadmin/cmd/toggleadmin", "import", "file",
		"--local", "--data-dir", b.service.dataDir, b.script.MkAbs(name)).CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %s", err, output)
	}
}
