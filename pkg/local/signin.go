package local

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/loopback"
)

const (
	signInPath   = "/local/sign-in"
	codeSize     = 16 // bytes
	codeLifetime = 10 * time.Minute
	maxSignIn    = 1024 // bytes of a request body
)

// signIn serves the API, and exchanges the code of the printed URL for the token of the admin. A browser keeps the URLs
// that it has visited, with their fragments, so the URL has a code that works once.
type signIn struct {
	api         http.Handler
	token, code string    // empty: nobody can sign in with a code
	until       time.Time // of the code; zero without one
	now         func() time.Time
	newID       func() string

	mu   sync.Mutex
	used bool
}

// newSignIn makes a code for the admin, and none if the admin was deleted or is disabled.
func newSignIn(api http.Handler, users []seed.User, now func() time.Time, random io.Reader) (*signIn, error) {
	a := &signIn{api: api, now: now, newID: newID(random)}
	admin := slices.IndexFunc(users, func(u seed.User) bool { return u.Name == "admin" && !u.Disabled })
	if admin < 0 {
		return a, nil
	}
	code := make([]byte, codeSize)
	if _, err := io.ReadFull(random, code); err != nil {
		return nil, fmt.Errorf("make the code that signs the admin in: %w", err)
	}
	a.token, a.code, a.until = users[admin].PAT, base64.RawURLEncoding.EncodeToString(code), now().Add(codeLifetime)
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *signIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == signInPath && isLoopback(r.Host) {
		a.signIn(w, r)
		return
	}
	a.api.ServeHTTP(w, r)
}

// isLoopback reports whether a Host header names this machine. Others come from web pages whose names resolve
// to this machine (DNS rebinding), so that they can read the responses. Clients resolve localhost and the names below
// it to loopback addresses (RFC 6761).
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(host, "]"), "["), "."))
	return loopback.IsHost(host) || strings.HasSuffix(host, ".localhost")
}

// signIn responds with the token if the code is right, for the first time and in time.
func (a *signIn) signIn(w http.ResponseWriter, r *http.Request) {
	var in struct{ Code string }
	err := json.NewDecoder(io.LimitReader(r.Body, maxSignIn)).Decode(&in)
	a.mu.Lock()
	valid := err == nil && subtle.ConstantTimeCompare([]byte(in.Code), []byte(a.code)) == 1 && !a.used &&
		a.now().Before(a.until)
	a.used = a.used || valid
	a.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	if !valid {
		apierror.Write(w, a.newID(), apierror.New(apierror.AuthenticationRequired,
			"The code of this address is not valid, was already used or has expired. Start the service again for a new one, "+
				"or enter a token of local.json."))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"token": a.token}) // the client may have gone
}
