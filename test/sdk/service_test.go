package sdk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

const environment = "production"

// service is a local service that can be stopped and started again. Applications reach it at an address that stays the
// same.
type service struct {
	*testing.T
	local.Running
	*address
	data     string // the folder of the data
	shutDown func()
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{T: t, address: newAddress(t), data: filepath.Join(t.TempDir(), "data")}
	s.start()
	t.Cleanup(func() { s.shutDown() })
	return s
}

func (s *service) start() { s.Helper(); s.startWith(local.Config{}) }

func (s *service) startWith(c local.Config) {
	s.Helper()
	c.DataDir = s.data
	s.Running, s.shutDown = localtest.StartStop(s.T, c)
	s.leadTo(s.ClientURL)
}

// stop stops the service. Applications get no response.
func (s *service) stop() {
	s.leadNowhere()
	s.shutDown()
	s.shutDown = func() {}
}

// counted returns how often applications have used a toggle in the environment, as the service counts it.
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
