package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

const environment = "production"

// service is a local service that can be stopped and started again. Applications reach it at a URL that stays the same,
// through a proxy that records their requests.
type service struct {
	*testing.T
	local.Running
	url      string // for applications
	data     string // the folder of the data
	shutDown func()

	mu       sync.Mutex
	target   *url.URL        // nil: the service is stopped
	requests map[string]bool // "POST /api/client/metrics 202"
	reports  [][]byte        // the bodies of reports and registrations
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{T: t, data: filepath.Join(t.TempDir(), "data"), requests: map[string]bool{}}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        s.rewrite,
		ModifyResponse: s.record,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(proxy.Close)
	s.url = proxy.URL
	s.start()
	t.Cleanup(func() { s.shutDown() })
	return s
}

func (s *service) start() { s.Helper(); s.startWith(local.Config{}) }

func (s *service) startWith(c local.Config) {
	s.Helper()
	c.DataDir = s.data
	s.Running, s.shutDown = localtest.StartStop(s.T, c)
	target, err := url.Parse(s.ClientURL)
	assert.OK(s.T, err)
	s.setTarget(target)
}

// stop stops the service. Applications get no response.
func (s *service) stop() {
	s.setTarget(nil)
	s.shutDown()
	s.shutDown = func() {}
}

func (s *service) setTarget(target *url.URL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = target
}

func (s *service) rewrite(r *httputil.ProxyRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.target == nil {
		panic(http.ErrAbortHandler)
	}
	r.SetURL(s.target)
	if r.In.Method != http.MethodPost || !strings.Contains(r.In.URL.Path, "/client/") {
		return
	}
	body, err := io.ReadAll(r.In.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Out.Body = io.NopCloser(bytes.NewReader(body))
	s.reports = append(s.reports, body)
}

// sent returns the reports and registrations that applications have sent.
func (s *service) sent() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reports)
}

// counted returns how often applications have asked for a toggle in the environment, as the service counts it.
func (s *service) counted(name string) (evaluations float64) {
	s.Helper()
	response := s.request(http.MethodGet, "client-metrics/features/"+name+"/raw?hoursBack=2", "")
	hours, _ := response["data"].([]any)
	for _, hour := range hours {
		if hour, ok := hour.(map[string]any); ok && hour["environment"] == environment {
			yes, _ := hour["yes"].(float64)
			no, _ := hour["no"].(float64)
			evaluations += yes + no
		}
	}
	return evaluations
}

func (s *service) record(r *http.Response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[fmt.Sprintf("%s %s %d", r.Request.Method, r.Request.URL.Path, r.StatusCode)] = true
	return nil
}

func (s *service) received(request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[request]
}

// checkStatuses fails the test if a request of an application was rejected.
func (s *service) checkStatuses() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for request := range s.requests {
		switch request[len(request)-3:] {
		case "200", "202", "204", "304":
		default:
			s.Errorf("the application received %s", request)
		}
	}
}

// token returns the secret of a client token for all projects.
func (s *service) token(kind clienttokentable.Type) string {
	s.Helper()
	for _, token := range s.ClientTokens {
		if token.Type == kind && token.Environment == environment {
			return token.Secret
		}
	}
	s.Fatalf("there is no client token of the type %s", kind)
	return ""
}

// post sends a request to the administration, which must succeed, and returns the response.
func (s *service) post(path, body string) (response map[string]any) {
	s.Helper()
	return s.request(http.MethodPost, path, body)
}

func (s *service) request(method, path, body string) (response map[string]any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.BaseURL+"/api/admin/"+path, strings.NewReader(body))
	assert.OK(s.T, err)
	r.Header.Set("Authorization", s.APIToken)
	r.Header.Set("Content-Type", "application/json")
	received, err := http.DefaultClient.Do(r)
	assert.OK(s.T, err)
	defer received.Body.Close()
	text, err := io.ReadAll(received.Body)
	assert.OK(s.T, err)
	if received.StatusCode >= http.StatusMultipleChoices {
		s.Fatalf("%s %s: %d %s", method, path, received.StatusCode, text)
	}
	_ = json.Unmarshal(text, &response) // some responses have no body
	return response
}

// turn turns a toggle on or off.
func (s *service) turn(name, state string) {
	s.Helper()
	s.post("projects/default/features/"+name+"/environments/"+environment+"/"+state, "")
}
