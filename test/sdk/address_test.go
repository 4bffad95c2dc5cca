package sdk_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"toggleadmin/test/helper/assert"
)

// address is a URL at which an application finds a service. It is a proxy, which records the requests of the application.
type address struct {
	test *testing.T
	url  string

	mu       sync.Mutex
	target   *url.URL        // nil: there is no service
	requests map[string]bool // "POST /api/client/metrics 202"
	reports  [][]byte        // the bodies of reports and registrations
}

func newAddress(t *testing.T) *address {
	t.Helper()
	a := &address{test: t, requests: map[string]bool{}}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        a.rewrite,
		ModifyResponse: a.record,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(proxy.Close)
	a.url = proxy.URL
	return a
}

// leadTo makes the address that of a service.
func (a *address) leadTo(service string) {
	a.test.Helper()
	target, err := url.Parse(service)
	assert.OK(a.test, err)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.target = target
}

// leadNowhere stops the address. Applications get no response.
func (a *address) leadNowhere() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.target = nil
}

func (a *address) rewrite(r *httputil.ProxyRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.target == nil {
		panic(http.ErrAbortHandler)
	}
	r.SetURL(a.target)
	if r.In.Method != http.MethodPost || !strings.Contains(r.In.URL.Path, "/client/") {
		return
	}
	body, err := io.ReadAll(r.In.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Out.Body = io.NopCloser(bytes.NewReader(body))
	a.reports = append(a.reports, body)
}

func (a *address) record(r *http.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests[fmt.Sprintf("%s %s %d", r.Request.Method, r.Request.URL.Path, r.StatusCode)] = true
	return nil
}

// sent returns the reports and registrations that applications have sent.
func (a *address) sent() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.reports)
}

// received reports whether an application has sent a request, in the form "POST /api/client/metrics 202".
func (a *address) received(request string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[request]
}

// checkStatuses fails the test if a request of an application was rejected.
func (a *address) checkStatuses() {
	a.test.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for request := range a.requests {
		switch request[len(request)-3:] {
		case "200", "202", "204", "304":
		default:
			a.test.Errorf("the application received %s", request)
		}
	}
}
