// Package roundtrip responds to the requests of HTTP clients with functions.
package roundtrip

import "net/http"

// Func is an http.RoundTripper.
type Func func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f Func) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
