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

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/platform/loopback"
	"toggleadmin/pkg/seed"
)

const (
	signInPath   = "/local/sign-in"
	codesPath    = "/local/sign-in-codes" // pkg/operator/installation calls it
	codeSize     = 16                     // bytes
	codeLifetime = 10 * time.Minute
	maxSignIn    = 1024 // bytes of a request body
)

// signIn serves the API, and exchanges the code of the printed URL for the token of the admin. A browser keeps the URLs
// that it has visited, with their fragments, so the URL has a code that works once. Who has the token can request
// another code.
type signIn struct {
	api    http.Handler
	token  string // of the admin; empty: nobody can sign in with a code
	now    func() time.Time
	random io.Reader
	newID  func() string

	mu    sync.Mutex
	code  string // empty: none, or it was used
	until time.Time
}

// newSignIn makes a code for the admin, and none if the admin was deleted or is disabled.
func newSignIn(api http.Handler, users []seed.User, now func() time.Time, random io.Reader) (a *signIn, code string,
	err error) {
	a = &signIn{api: api, now: now, random: random, newID: newID(random)}
	admin := slices.IndexFunc(users, func(u seed.User) bool { return u.Name == "admin" && !u.Disabled })
	if admin < 0 {
		return a, "", nil
	}
	a.token = users[admin].PAT
	code, err = a.newCode()
	return a, code, err
}

// newCode makes a code, which replaces the current one.
func (a *signIn) newCode() (string, error) {
	code := make([]byte, codeSize)
	if _, err := io.ReadFull(a.random, code); err != nil {
		return "", fmt.Errorf("make the code that signs the admin in: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.code, a.until = base64.RawURLEncoding.EncodeToString(code), a.now().Add(codeLifetime)
	return a.code, nil
}

// useCode reports whether a code is right and in time. It works once.
func (a *signIn) useCode(code string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.code == "" || subtle.ConstantTimeCompare([]byte(code), []byte(a.code)) != 1 || !a.now().Before(a.until) {
		return false
	}
	a.code = ""
	return true
}

// ServeHTTP implements http.Handler.
func (a *signIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == signInPath && isLoopback(r.Host):
		a.signIn(w, r)
	case r.Method == http.MethodPost && r.URL.Path == codesPath && isLoopback(r.Host):
		a.createCode(w, r)
	default:
		a.api.ServeHTTP(w, r)
	}
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

// signIn responds with the token if the code is right.
func (a *signIn) signIn(w http.ResponseWriter, r *http.Request) {
	var in struct{ Code string }
	err := json.NewDecoder(io.LimitReader(r.Body, maxSignIn)).Decode(&in)
	if err != nil || !a.useCode(in.Code) {
		a.reject(w, "This sign-in address is invalid, expired or already used. For a new address, run "+
			"`toggleadmin console --local` or start the service again. Or enter a token of local.json.")
		return
	}
	respond(w, map[string]string{"token": a.token})
}

// createCode responds with a new code if the request has the token of the admin.
func (a *signIn) createCode(w http.ResponseWriter, r *http.Request) {
	sent := []byte(r.Header.Get("Authorization"))
	if a.token == "" || subtle.ConstantTimeCompare(sent, []byte(a.token)) != 1 {
		a.reject(w, "The request needs the token of the admin in local.json, and an admin who is not disabled.")
		return
	}
	code, err := a.newCode()
	if err != nil {
		lambdahttp.WriteError(w, r.Header, a.newID(), err)
		return
	}
	respond(w, map[string]string{"code": code})
}

func (a *signIn) reject(w http.ResponseWriter, message string) {
	w.Header().Set("Cache-Control", "no-store")
	lambdahttp.WriteError(w, nil, a.newID(), apierror.New(apierror.AuthenticationRequired, message))
}

func respond(w http.ResponseWriter, body map[string]string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}
