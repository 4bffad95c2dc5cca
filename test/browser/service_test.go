package browser_test

import (
	"net/url"
	"sync"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
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
	return origin == s.BaseURL || origin == s.issuer || u.Scheme == "data" || u.Scheme == "blob" || u.String() == "about:blank"
}
