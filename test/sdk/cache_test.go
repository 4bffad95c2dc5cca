package sdk_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// fixture is a local service with two servers of nginx in front: one that honors Cache-Control, and one that stores
// all responses although they forbid it.
type fixture struct {
	*testing.T
	local.Running
	cache string // URL
	store string // URL
}

// originSecret is the secret that nginx adds to requests.
const originSecret = "0123456789abcdef0123456789abcdef"

func newFixture(t *testing.T, c local.Config) *fixture {
	t.Helper()
	nginx := os.Getenv("TEST_NGINX")
	if nginx == "" {
		t.Skip("TEST_NGINX is not set; make test-sdk sets it")
	}
	f := &fixture{T: t, Running: localtest.Start(t, c)}
	port, portOfStore := process.FreePort(t), process.FreePort(t)
	f.cache, f.store = "http://127.0.0.1:"+port, "http://127.0.0.1:"+portOfStore
	template, err := os.ReadFile("testdata/nginx.conf")
	assert.OK(t, err)
	folder := t.TempDir()
	file := filepath.Join(folder, "nginx.conf")
	replaced := strings.NewReplacer(
		"PORT_OF_STORE", portOfStore, "PORT", port, "UPSTREAM", f.ClientURL, "FOLDER", folder, "SECRET", originSecret,
	).Replace(string(template))
	assert.OK(t, os.WriteFile(file, []byte(replaced), 0o600))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, nginx, "-c", file)
	command.Stderr = t.Output()
	assert.OK(t, command.Start())
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // the process was killed
	})
	process.Await(t, "nginx responds", 20*time.Millisecond, 10*time.Second, func() bool {
		response, err := f.try(http.MethodGet, f.cache+"/", "", "", "")
		return err == nil && response.status == http.StatusNotFound
	})
	return f
}

// response is what an application receives.
type response struct {
	status int
	tag    string
	cache  string // HIT or MISS, of the server that stores responses
	body   string
}

func (f *fixture) try(method, url, token, tag, visitor string) (response, error) {
	request, err := http.NewRequestWithContext(f.Context(), method, url, http.NoBody)
	if err != nil {
		return response{}, err
	}
	request.Header.Set("Unleash-Client-Spec", "5.2.0")
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	if visitor != "" { // as another proxy in front of nginx would do
		request.Header.Set("X-Forwarded-For", visitor)
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header.Get("ETag"), got.Header.Get("X-Cache"), string(body)}, err
}

// poll downloads the toggles as an SDK does that has a version with a tag; "": it has none.
func (f *fixture) poll(url, token, tag string) response {
	f.Helper()
	got, err := f.try(http.MethodGet, url+"/api/client/features", token, tag, "")
	assert.OK(f, err)
	return got
}

// administer sends a request with a body to the administration.
func (f *fixture) administer(path, body string) {
	f.Helper()
	request, err := http.NewRequestWithContext(f.Context(), http.MethodPost, f.BaseURL+path, strings.NewReader(body))
	assert.OK(f, err)
	request.Header.Set("Authorization", f.APIToken)
	request.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(request)
	assert.OK(f, err)
	defer got.Body.Close()
	if got.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(got.Body)
		f.Fatalf("POST %s: %d %s", path, got.StatusCode, text)
	}
}

// token returns a backend token for an environment.
func (f *fixture) token(environment string) string {
	f.Helper()
	return f.tokenOf(clienttokentable.Backend, environment)
}

func (f *fixture) tokenOf(kind clienttokentable.Type, environment string) string {
	f.Helper()
	for _, token := range f.ClientTokens {
		if token.Type == kind && token.Environment == environment {
			return token.Secret
		}
	}
	f.Fatalf("there is no token for %s", environment)
	return ""
}

// awaitChange waits until the service itself has a version other than the one with the tag, and returns it.
func (f *fixture) awaitChange(token, tag string) (changed response) {
	f.Helper()
	process.Await(f, "the change is compiled", 10*time.Millisecond, 10*time.Second, func() bool {
		changed = f.poll(f.ClientURL, token, tag)
		return changed.status == http.StatusOK
	})
	return changed
}

// Through a cache, each token gets its own responses, a 304 stays a 304, and a change is visible at once.
func TestCache(t *testing.T) {
	t.Parallel()
	f := newFixture(t, local.Config{})
	production, development := f.token("production"), f.token("development")
	before := f.poll(f.ClientURL, production, "")
	f.administer("/api/admin/projects/default/features", `{"name":"express","type":"release"}`)
	f.administer("/api/admin/projects/default/features/express/environments/production/on", "")
	f.awaitChange(production, before.tag)
	process.Await(t, "the toggle is on", 10*time.Millisecond, 10*time.Second, func() bool {
		return strings.Contains(f.poll(f.ClientURL, production, "").body, `"rollout":"100"`)
	})
	inProduction, inDevelopment := f.poll(f.ClientURL, production, ""), f.poll(f.ClientURL, development, "")
	if inProduction.body == inDevelopment.body {
		t.Fatal("both environments have the same toggles")
	}
	for range 2 {
		assert.Equal(t, inProduction.body, f.poll(f.cache, production, "").body)
		assert.Equal(t, inDevelopment.body, f.poll(f.cache, development, "").body)
		assert.Equal(t, http.StatusUnauthorized, f.poll(f.cache, production+"x", "").status)
		assert.Equal(t, http.StatusUnauthorized, f.poll(f.cache, "", "").status)
		got := f.poll(f.cache, production, inProduction.tag)
		assert.Equal(t, response{status: http.StatusNotModified, tag: inProduction.tag}, got, cmp.AllowUnexported(response{}))
	}
	f.administer("/api/admin/projects/default/features/express/environments/production/off", "")
	changed := f.awaitChange(production, inProduction.tag)
	assert.Equal(t, changed, f.poll(f.cache, production, inProduction.tag), cmp.AllowUnexported(response{}))
}

// A cache that stores responses although they forbid it still gives no token the response of another one.
func TestVary(t *testing.T) {
	t.Parallel()
	f := newFixture(t, local.Config{})
	production, development := f.token("production"), f.token("development")
	f.administer("/api/admin/projects/default/features", `{"name":"express","type":"release"}`)
	f.administer("/api/admin/projects/default/features/express/environments/production/on", "")
	process.Await(t, "the toggle is on", 10*time.Millisecond, 10*time.Second, func() bool {
		return strings.Contains(f.poll(f.ClientURL, production, "").body, `"rollout":"100"`)
	})
	for _, test := range []struct {
		token  string
		status int
		cache  string
	}{
		{production, http.StatusOK, "MISS"},
		{development, http.StatusOK, "MISS"},
		{production, http.StatusOK, "HIT"},
		{development, http.StatusOK, "HIT"},
		{production + "x", http.StatusUnauthorized, "MISS"},
		{"", http.StatusUnauthorized, "MISS"},
	} {
		got, want := f.poll(f.store, test.token, ""), f.poll(f.ClientURL, test.token, "")
		assert.Equal(t, test.cache, got.cache)
		assert.Equal(t, test.status, got.status)
		if test.status == http.StatusOK {
			assert.Equal(t, want.body, got.body)
		}
	}
}

// Behind nginx, each visitor has an address of their own, and nobody can go around it.
func TestVisitors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, local.Config{TrustedProxies: "127.0.0.0/8", ClientOriginSecret: originSecret})
	const toggle = "/api/admin/projects/default/features"
	f.administer(toggle, `{"name":"office","type":"release"}`)
	f.administer(toggle+"/office/environments/development/strategies",
		`{"name":"remoteAddress","parameters":{"IPs":"203.0.113.0/24"}}`)
	f.administer(toggle+"/office/environments/development/on", "")
	token := f.tokenOf(clienttokentable.Frontend, "development")
	ask := func(url, visitor string) response {
		got, err := f.try(http.MethodGet, url+"/api/frontend", token, "", visitor)
		assert.OK(t, err)
		return got
	}
	process.Await(t, "the office sees the toggle", 10*time.Millisecond, 10*time.Second, func() bool {
		return strings.Contains(ask(f.cache, "203.0.113.7").body, `"office"`)
	})
	assert.Equal(t, `{"toggles":[]}`, ask(f.cache, "198.51.100.1").body)
	assert.Equal(t, `{"toggles":[]}`, ask(f.cache, "").body)
	assert.Equal(t, http.StatusForbidden, ask(f.ClientURL, "203.0.113.7").status)
}
