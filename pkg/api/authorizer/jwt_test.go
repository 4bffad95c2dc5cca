package authorizer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
)

func TestPersonWithAToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// Claims never grant a role.
	token := f.issuer.Token(now(), map[string]any{"role": "Admin", "roles": []string{"Admin"}, "groups": []string{"Admin"},
		"permissions": "ADMIN"})
	a, tap, log := f.authenticator(t, nil)
	a.DefaultRole = access.RoleAdmin
	for _, header := range []string{token, "Bearer " + token, token} {
		assert.Equal(t, "user:11 Allow map[name:Editor permissions:CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD,DELETE_CONTEXT_FIELD,"+
			"CREATE_SEGMENT,UPDATE_SEGMENT,DELETE_SEGMENT,"+
			"READ_CLIENT_API_TOKEN,CREATE_PROJECT,READ_ROLE,CREATE_TAG_TYPE,UPDATE_TAG_TYPE,DELETE_TAG_TYPE role:Editor tokenId: userId:11]", authorize(t, a, header))
	}
	// The first request finds and links the person, later ones read the user and the directory in one call.
	if !strings.HasSuffix(tap.Calls(), "TransactWriteItems GetItem"+strings.Repeat(" BatchGetItem", 2)) ||
		strings.Contains(log.String(), "rejected") {
		t.Errorf("calls %s, log %s", tap.Calls(), log)
	}
	assert.OK(t, f.users.SetDisabled(t.Context(), 11, true, true))
	assert.Equal(t, denied, authorize(t, a, token))
	// a new person with the default role
	assert.Equal(t, "user:15 Allow map[name:Ada Lovelace permissions:ADMIN role:Admin tokenId: userId:15]", authorize(t, a,
		f.issuer.Token(now(), map[string]any{"sub": "new", "email": "new@example.com", "email_verified": false})))
	var recorded []string // by the requests
	for _, line := range f.Events(t) {
		if begin, _, ok := strings.Cut(line, ", request "+extendedID+":"); ok {
			recorded = append(recorded, begin)
		}
	}
	want := []string{"user-updated user:11 by user 11", "user-created user:15 by user 15"}
	assert.Equal(t, want, recorded)
}

// TestRejectedJWT compares the last line of the log. It has the SHA-256 of the subject if the signature was verified.
func TestRejectedJWT(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct{ changedClaims, logged string }{
		{`{"exp":1}`, `"reason":"expired"`},
		{
			changedClaims: `{"email":"unknown@example.com"}`,
			logged: `"reason":"no person has the identity or the e-mail address, and no default role is set",` +
				`"subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"`,
		},
		{
			changedClaims: `{"email_verified":false}`,
			logged: `"reason":"no person has the identity or the e-mail address, and no default role is set",` +
				`"subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"`,
		},
		{
			changedClaims: `{"email":"linked@example.com"}`,
			logged: `"reason":"the person with the e-mail address is linked to another identity",` +
				`"subjectHash":"4ace913314955c59729619db3eb77a3269cbfadb9f60e878c222d1e18f0e8c0f"`,
		},
		{
			changedClaims: `{"email":"disabled@example.com","sub":"248289761002"}`,
			logged: `"reason":"the user is disabled",` +
				`"subjectHash":"3ad03bce2ff1e9c5dc762da2b8e59510c13f50ba80d2ed1dc1113c7f6d33de55"`,
		},
	} {
		var claims map[string]any
		assert.OK(t, json.Unmarshal([]byte(test.changedClaims), &claims))
		a, _, log := f.authenticator(t, nil)
		assert.Equal(t, denied, authorize(t, a, f.issuer.Token(now(), claims)))
		lines := strings.Split(log.String(), `"level":`)
		assert.Equal(t, `"INFO","msg":"a JWT is rejected",`+test.logged+"}\n", lines[len(lines)-1])
	}
}

// TestWithoutIssuer checks that a JWT is rejected if no trust names its issuer, and never treated as a PAT.
func TestWithoutIssuer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, tap, log := f.authenticator(t, nil)
	var err error
	a.Issuer, err = oidc.New(oidc.Config{})
	assert.OK(t, err)
	if got := authorize(t, a, f.issuer.Token(now(), nil)); got != denied || tap.Calls() != "Query" ||
		!strings.Contains(log.String(), `"reason":"issuer"`) {
		t.Errorf("%s, calls %s, log %s", got, tap.Calls(), log)
	}
}
