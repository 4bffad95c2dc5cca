// Package issuer is an OpenID Connect issuer for tests of attacks: it signs any text, publishes any keys and gives any
// response. It has no sign-in; test/browser starts a real issuer for that.
package issuer

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// The paths of the documents.
const (
	MetadataPath = "/.well-known/openid-configuration"
	KeysPath     = "/keys"
)

// ClientID is the audience of the tokens.
const ClientID = "toggle-console"

// Issuer publishes a discovery document and keys. It is safe for concurrent use.
type Issuer struct {
	*httptest.Server

	mu      sync.Mutex
	keys    []map[string]any
	respond map[string]http.HandlerFunc
	fetches map[string]int
}

// Start starts an issuer that publishes one key for each algorithm, with https or, for make run, with http. The caller
// closes it.
func Start(https bool) *Issuer {
	i := &Issuer{respond: map[string]http.HandlerFunc{}, fetches: map[string]int{}}
	i.Server = httptest.NewUnstartedServer(i)
	// clients that hang up are part of the tests
	i.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if https {
		i.StartTLS()
	} else {
		i.Server.Start()
	}
	for _, algorithm := range Algorithms() {
		i.keys = append(i.keys, KeyFor(algorithm).JWK())
	}
	return i
}

// New starts an issuer with https for one test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := Start(true)
	tb.Cleanup(i.Close)
	return i
}

// Transport returns a transport that accepts the issuer's certificate.
func (i *Issuer) Transport() http.RoundTripper { return i.Client().Transport }

// Publish replaces the keys. Each is a JWK, or something else in its place.
func (i *Issuer) Publish(keys ...map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Respond replaces the response of a path. A nil handler restores it.
func (i *Issuer) Respond(path string, handler http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.respond[path] = handler
}

// Fetches returns how often a path was requested.
func (i *Issuer) Fetches(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches[path]
}

// Metadata returns the discovery document.
func (i *Issuer) Metadata() map[string]any {
	return map[string]any{
		"issuer": i.URL, "jwks_uri": i.URL + KeysPath, "authorization_endpoint": i.URL + "/authorize",
		"token_endpoint":       i.URL + "/token",
		"end_session_endpoint": i.URL + "/logout",
	}
}

// ServeHTTP counts the request and responds to it.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches[r.URL.Path]++
	respond, keys := i.respond[r.URL.Path], i.keys
	i.mu.Unlock()
	switch {
	case respond != nil:
		respond(w, r)
	case r.URL.Path == MetadataPath:
		WriteJSON(w, i.Metadata())
	case r.URL.Path == KeysPath:
		WriteJSON(w, map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

// WriteJSON writes a JSON document.
func WriteJSON(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // to a client that may have gone
}

// Claims returns the claims of a valid token of Ada, who is the subject "248289761001", with changes. A nil value
// removes a claim.
func (i *Issuer) Claims(now time.Time, changes map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.URL, "sub": "248289761001", "aud": ClientID, "exp": now.Add(5 * time.Minute).Unix(), "iat": now.Unix(),
		"email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace",
	}
	return change(claims, changes)
}

// Token returns a valid token with changes to its claims, signed with ES256.
func (i *Issuer) Token(now time.Time, changes map[string]any) string {
	return KeyFor("ES256").Sign(nil, i.Claims(now, changes))
}

func change(properties, changes map[string]any) map[string]any {
	maps.Copy(properties, changes)
	maps.DeleteFunc(properties, func(_ string, value any) bool { return value == nil })
	return properties
}
