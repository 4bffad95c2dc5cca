package browser_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

// service is a running service with its own data.
type service struct {
	local.Running
	issuer string // URL; empty: none
	log    *process.Output
	stop   func()
}

// start starts a service.
func start(t *testing.T, c local.Config) *service {
	t.Helper()
	chromium.context(t) // skips the test before anything starts
	s := &service{log: &process.Output{}}
	c.Stderr = s.log
	running, stop := localtest.StartStop(t, c)
	s.Running, s.stop = running, sync.OnceFunc(stop)
	t.Cleanup(s.stop)
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

// send sends a request to the API and decodes the body of the response, if there is one.
func send[T any](t *testing.T, s *service, token, method, path, body string) (status int, answer T) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); !errors.Is(err, io.EOF) {
		must(t, err)
	}
	return response.StatusCode, answer
}

// status returns the status of a request that lists the context fields.
func (s *service) status(t *testing.T, token string) int {
	t.Helper()
	status, _ := send[any](t, s, token, http.MethodGet, "/api/admin/context", "")
	return status
}

// created is a response to a POST request.
type created struct {
	ID     any
	Secret string
}

// create sends a POST request that must succeed, as a seeded person.
func (s *service) create(t *testing.T, name, path string, body map[string]any) created {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	status, answer := send[created](t, s, s.pat(name), http.MethodPost, path, string(text))
	if status != http.StatusCreated {
		t.Fatalf("POST %s %s: status %d", path, text, status)
	}
	return answer
}

// createToken returns the secret of a new token of a seeded person.
func (s *service) createToken(t *testing.T, name, description string, expires time.Time) string {
	t.Helper()
	return s.create(t, name, "/api/admin/user/tokens",
		map[string]any{"description": description, "expiresAt": expires.Format(time.RFC3339)}).Secret
}
