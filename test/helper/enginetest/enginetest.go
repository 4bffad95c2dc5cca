// Package enginetest starts engines for tests. An engine in memory starts in about 10 ms, so every test can have its
// own.
package enginetest

import (
	"crypto/rand"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"toggleadmin/pkg/local/engine"
)

// External returns DYNAMODB_ENDPOINT, the URL of a server that tests use instead of engines of their own. Empty: there
// is none.
func External() string { return os.Getenv("DYNAMODB_ENDPOINT") }

// Endpoint returns the URL of an engine without tables, for this test only.
//
// With DYNAMODB_ENDPOINT it is a proxy to that server, which replaces the access key "local" of requests by a random
// one. DynamoDB Local has separate tables for each access key, unless it runs with -sharedDb.
func Endpoint(tb testing.TB) string {
	tb.Helper()
	if External() == "" {
		return Start(tb).Endpoint()
	}
	server, err := url.Parse(External())
	if err != nil {
		tb.Fatal(err)
	}
	key := "Credential=" + rand.Text() + "/"
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(server)
		r.Out.Header.Set("Authorization", strings.Replace(r.In.Header.Get("Authorization"), "Credential=local/", key, 1))
	}})
	tb.Cleanup(proxy.Close)
	return proxy.URL
}

// Start starts an engine in memory that ends with the test. With DYNAMODB_ENDPOINT it skips the test: tests that need
// no more than an endpoint call Endpoint.
func Start(tb testing.TB) *engine.Engine {
	tb.Helper()
	return StartIn(tb, "")
}

// StartIn is Start with the data in a folder.
func StartIn(tb testing.TB, dir string) *engine.Engine {
	tb.Helper()
	e, err := engine.Start(tb.Context(), engine.Options{Program: Program(tb), Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Stop)
	return e
}

// Program returns the path of the engine's program. With DYNAMODB_ENDPOINT it skips the test.
func Program(tb testing.TB) string {
	tb.Helper()
	if External() != "" {
		tb.Skip("skipped: it starts and stops the engine, which DYNAMODB_ENDPOINT does not allow")
	}
	program, err := engine.Find(".")
	if err != nil {
		tb.Fatal(err)
	}
	return program
}
