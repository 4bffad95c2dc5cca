package unleash_test

import (
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/unleashserver"
)

// server is a running Unleash.
type server struct{ *unleashserver.Server }

// startUnleash starts PostgreSQL and Unleash on free ports. They end with the test.
func startUnleash(t *testing.T) *server {
	t.Helper()
	return &server{unleashserver.StartFor(t)}
}

// restart starts Unleash with a number of searches that it permits per minute.
func (s *server) restart(t *testing.T, searches int) {
	t.Helper()
	assert.OK(t, s.Restart(t.Context(), process.FreePort(t), searches))
}

func (s *server) sql(t *testing.T, statements string) {
	t.Helper()
	assert.OK(t, s.SQL(t.Context(), statements))
}

func (s *server) call(t *testing.T, method, path, body string) []byte {
	t.Helper()
	text, err := s.Call(t.Context(), method, path, body)
	assert.OK(t, err)
	return text
}
