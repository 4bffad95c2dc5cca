package unleash_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

// server responds as Unleash 8.2.0 does, as test/unleash shows.
type server struct {
	mu       sync.Mutex
	searches int // allowed until the next wait
	waits    []time.Duration
	requests []string
	first    int // the number of the first toggle, which rises if that is deleted
	active   int // toggles
	changes  int // how often the first toggle is deleted while all are read
}

// responses are those of paths whose response does not change.
var responses = map[string]string{
	"/base/api/admin/feature-types": `{"version":1,"types":[{"id":"release","name":"Release","description":"d","lifetimeDays":40}]}`,
	"/base/api/admin/context": `[{"name":"plan","description":"","stickiness":true,"sortOrder":3,"legalValues":[{"value":"a"}],
		"createdAt":"2020-01-01T00:00:00.000Z"}]`,
	"/base/api/admin/projects/shop/features/old/environments/development/strategies": `[
		{"constraints":[{"contextName":"plan"}],"parameters":{"stickiness":"default","rollout":5},"variants":[{"stickiness":"userId"}]},
		{"constraints":[],"parameters":{"stickiness":"sessionId"},"variants":[{"stickiness":"random"}]}]`,
}

// archived is the response to a search for archived toggles.
const archived = `{"features":[{"name":"old","type":"kill-switch","project":"shop","description":"","stale":true,
	"createdAt":"2020-01-01T00:00:00.000Z","archivedAt":"2021-01-01T00:00:00.000Z","impressionData":true,
	"createdBy":{"id":0,"name":"unknown"},"environments":[{"name":"development","hasStrategies":true},
	{"name":"production","hasStrategies":false}]}],"total":1}`

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.URL.RequestURI())
	response := responses[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "user:secret":
		w.WriteHeader(http.StatusUnauthorized)
	case response != "":
		respond(w, response)
	case r.URL.Path == "/base/api/admin/search/features":
		s.search(w, r)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>")
	}
}

func respond(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprint(w, body)
}

func (s *server) search(w http.ResponseWriter, r *http.Request) {
	if s.searches == 0 {
		w.Header().Set("Retry-After", "42")
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		return
	}
	s.searches--
	if r.FormValue("project") == "IS:other" {
		respond(w, `{"features":[{"name":"a","type":"release","project":"other"}],"total":1}`)
		return
	}
	if r.FormValue("project") != "" {
		respond(w, `{"features":[],"total":0}`)
		return
	}
	if r.FormValue("archived") == "IS:true" {
		respond(w, archived)
		return
	}
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	var page []string
	for n := s.first + offset; n < s.first+min(offset+100, s.active); n++ {
		page = append(page, fmt.Sprintf(`{"name":"t%d","type":"release","project":"default","description":null,"stale":false,
			"createdAt":"2020-01-01T00:00:00.000Z","archivedAt":null,"createdBy":{"name":"Ada"},"environments":[{"name":null}]}`,
			n))
	}
	respond(w, fmt.Sprintf(`{"features":[%s],"total":%d}`, strings.Join(page, ","), s.active))
	if offset > 0 && s.changes > 0 {
		s.changes--
		s.first++
		s.active--
	}
}

// read reads from the server, and counts what it waits.
func (s *server) read(t *testing.T, path, token, project string) (transfer.Document, error) {
	t.Helper()
	service := httptest.NewServer(s)
	t.Cleanup(service.Close)
	return unleash.Read(t.Context(), unleash.Config{
		URL: service.URL + path, Token: token, HTTP: service.Client(), Progress: func(string, int, int) {},
		Wait: func(ctx context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.waits, s.searches = append(s.waits, d), 2
			return ctx.Err()
		},
	}, project)
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := &server{searches: 2, active: 250}
	d, err := s.read(t, "/base/", "user:secret", "")
	if err != nil || len(d.Features) != 251 {
		t.Fatalf("%d toggles, %v", len(d.Features), err)
	}
	d.Features = d.Features[249:]
	assert.JSON(t, "testdata/read.json", d)
	assert.Equal(t, []time.Duration{42 * time.Second}, s.waits)
	if !slices.Contains(s.requests, "/base/api/admin/context?include=project") {
		t.Errorf("requests: %v", s.requests)
	}
}

// A toggle that is deleted while the pages are read moves others to earlier pages, so that they are missed: all are
// read again.
func TestTogglesChangeMeanwhile(t *testing.T) {
	t.Parallel()
	s := &server{searches: 100, active: 250, changes: 1}
	if d, err := s.read(t, "/base", "user:secret", ""); err != nil || len(d.Features) != 250 { // 249, and an archived one
		t.Errorf("%d toggles, %v", len(d.Features), err)
	}
	s = &server{searches: 100, active: 250, changes: 100}
	if _, err := s.read(t, "/base", "user:secret", ""); err == nil ||
		!strings.Contains(err.Error(), "change while they are read") {
		t.Error(err)
	}
}

func TestReadFails(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 5, `
		# path | token | project | error | exit status
		/wrong | user:secret | | does not respond with JSON: --url must be the URL of an Unleash | 6
		/base | user:other | | Unleash rejects the token | 4
		?a=b | user:secret | | is not the URL of an Unleash | 2
		/base | user:secret | other | is not Unleash: its toggles have no environments | 2
		/base | user:secret | none | Unleash has no toggle in the project "none" | 3
	`) {
		s := &server{searches: 10}
		_, err := s.read(t, row[0], row[1], row[2])
		if fmt.Sprint(int(exitstatus.Of(err))) != row[4] || !strings.Contains(err.Error(), row[3]) || strings.Contains(err.Error(), row[1]) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	d, err := unleash.Parse([]byte(`{"features":[{"name":"a","description":"","type":"release","project":"shop","stale":true,"impressionData":true,"archived":false}],
		"featureStrategies":[{"featureName":"a","parameters":{"stickiness":"plan"},"constraints":[{"contextName":"userId"}],"variants":[]}],
		"contextFields":[{"name":"plan","description":"","sortOrder":1,"legalValues":[]}],"segments":[]}`))
	assert.OK(t, err)
	assert.JSON(t, "testdata/parsed.json", d)
	assert.Equal(t, true, d.Partial)
	_, err = unleash.Parse([]byte(`{"features":[]}`))
	assert.ErrorIs(t, err, unleash.ErrFormat)
}
