package authorizer_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/issuer"
	"toggleadmin/test/table"
)

// signIn is a database, an issuer and an authenticator of its tokens.
type signIn struct {
	*fixture
	issuer *issuer.Issuer
}

func newSignIn(tb testing.TB) *signIn {
	tb.Helper()
	s := &signIn{newFixture(tb), issuer.New(tb)}
	for id, email := range map[int64]string{11: "ada@example.com", 12: "linked@example.com", 14: "disabled@example.com"} {
		u := user.User{ID: id, Kind: user.Person, Name: "Ada", Role: access.RoleEditor, Email: email, Disabled: id == 14}
		assert.OK(tb, s.users.Create(tb.Context(), u))
	}
	_, err := s.users.Link(tb.Context(), 12, user.Identity{Issuer: "https://earlier.example.com", Subject: "248289761001"})
	assert.OK(tb, err)
	return s
}

func (s *signIn) authenticator(tb testing.TB, role access.Role, respond func(*database.Call) (*http.Response, error)) (
	*authorizer.Authenticator, *database.Tap, *bytes.Buffer,
) {
	tb.Helper()
	a, tap, log := s.fixture.authenticator(tb, respond)
	verifier, err := oidc.New(oidc.Config{Issuer: s.issuer.URL, ClientID: issuer.ClientID, Now: now, Logger: a.Logger,
		Transport: s.issuer.Transport()})
	assert.OK(tb, err)
	a.Issuer, a.DefaultRole = verifier, role
	return a, tap, log
}

func TestPersonWithAToken(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	editor := access.UserPrincipal(11, access.RoleEditor)
	editor.Name = "Ada"
	// Claims never grant a role.
	token := s.issuer.Token(now(), map[string]any{"role": "Admin", "roles": []string{"Admin"}, "groups": []string{"Admin"},
		"permissions": "ADMIN"})
	a, tap, log := s.authenticator(t, access.RoleAdmin, nil)
	for _, header := range []string{token, "Bearer " + token, token} {
		got, err := a.Authorize(t.Context(), request(header))
		assert.OK(t, err)
		assert.Equal(t, policy(editor.ID, "Allow", editor.Context()), got)
	}
	// The first request finds and links the person, later ones read only the user.
	if !strings.HasSuffix(tap.Calls(), "TransactWriteItems"+strings.Repeat(" GetItem", 2)) ||
		strings.Contains(log.String(), "refused") {
		t.Errorf("calls %s, log %s", tap.Calls(), log)
	}
	assert.OK(t, s.users.SetDisabled(t.Context(), 11, true))
	assert.Equal(t, "anonymous", principal(t, a, token))
	got, err := a.Authorize(t.Context(),
		request(s.issuer.Token(now(), map[string]any{"sub": "new", "email": "new@example.com", "email_verified": false})))
	assert.OK(t, err)
	assert.Equal(t, any("ADMIN"), got.Context["permissions"]) // a new person with the default role
	var recorded []string                                     // by the requests
	for _, line := range s.Events(t) {
		if begin, _, ok := strings.Cut(line, ", request "+requestID+":"); ok {
			recorded = append(recorded, begin)
		}
	}
	want := []string{"user-updated user:11 by Ada, user 11", "user-created user:15 by Ada Lovelace, user 15"}
	assert.Equal(t, want, recorded)
}

// TestRefusedJWT compares the last line of the log. It has the SHA-256 of the subject if the signature was verified.
func TestRefusedJWT(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	for _, row := range table.Rows(t, 2, `
		# changed claims | what is logged
		{"exp":1} | "reason":"expired"
		{"email":"unknown@example.com"} | "reason":"no person has the identity or the e-mail address, and no default role is configured","subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"
		{"email_verified":false} | "reason":"no person has the identity or the e-mail address, and no default role is configured","subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"
		{"email":"linked@example.com"} | "reason":"the person with the e-mail address is linked to another identity","subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"
		{"email":"disabled@example.com","sub":"248289761002"} | "reason":"the user is disabled","subjectHash":"3ad03bce2ff1e9c5dc762da2b8e59510c13f50ba80d2ed1dc1113c7f6d33de55"
	`) {
		var claims map[string]any
		assert.OK(t, json.Unmarshal([]byte(row[0]), &claims))
		a, _, log := s.authenticator(t, "", nil)
		assert.Equal(t, "anonymous", principal(t, a, s.issuer.Token(now(), claims)))
		lines := strings.Split(log.String(), `"level":`)
		assert.Equal(t, `"INFO","msg":"a JWT is refused",`+row[1]+"}\n", lines[len(lines)-1])
	}
}

// TestWithoutIssuer checks that a JWT is refused without a call, and never treated as a PAT.
func TestWithoutIssuer(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	a, tap, log := s.fixture.authenticator(t, nil)
	var err error
	a.Issuer, err = oidc.New(oidc.Config{})
	assert.OK(t, err)
	if got := principal(t, a, s.issuer.Token(now(), nil)); got != "anonymous" || tap.Calls() != "" ||
		!strings.Contains(log.String(), "no issuer is configured") {
		t.Errorf("%s, calls %s, log %s", got, tap.Calls(), log)
	}
}
