package oidc_test

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

// TestWorkloads verifies tokens of a pipeline: the audience is the one of a trust, and a token lives for at most a day.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const audience = "https://toggles.example.com"
	issuers := oidc.NewIssuers(oidc.Config{Now: f.Now, Logger: slog.New(slog.DiscardHandler), Transport: f.Transport(),
		FetchTimeout: time.Minute})
	verify := func(changes map[string]any) oidc.Reason {
		t.Helper()
		claims := f.Claims(f.Now(), map[string]any{"aud": audience})
		maps.Copy(claims, changes)
		token, err := oidc.Parse(issuer.KeyFor("RS256").Sign(nil, claims))
		assert.OK(t, err)
		return reason(t, issuers.Verify(t.Context(), token, f.URL, audience))
	}
	seconds := func(d time.Duration) int64 { return f.Now().Add(d).Unix() }
	for _, test := range []struct {
		changes map[string]any
		want    oidc.Reason
	}{
		{map[string]any{"aud": "https://github.com/octo-org"}, oidc.Audience},
		{map[string]any{"aud": []string{audience, "other"}}, oidc.Audience}, // without azp
		{map[string]any{"azp": "other"}, oidc.Audience},
		{map[string]any{"iss": "https://evil.example.com"}, oidc.WrongIssuer},
		{map[string]any{"exp": seconds(-2 * time.Minute)}, oidc.Expired},
		{map[string]any{"exp": nil}, oidc.Malformed},
		{map[string]any{"nbf": seconds(2 * time.Minute)}, oidc.NotYetValid},
		{map[string]any{"iat": seconds(2 * time.Minute)}, oidc.NotYetValid},
		{map[string]any{"exp": seconds(24*time.Hour + time.Second)}, oidc.Lifetime},
		{map[string]any{"exp": seconds(23 * time.Hour), "iat": seconds(-2 * time.Hour)}, oidc.Lifetime},
		{map[string]any{"sub": ""}, oidc.Subject},
		{map[string]any{"typ": "Bearer"}, oidc.Type},
	} {
		assert.Equal(t, []any{test.changes, test.want}, []any{test.changes, verify(test.changes)})
	}
	assert.Equal(t, "0 0", f.fetches()) // none of them can be valid, so nothing is fetched
	assert.Equal(t, oidc.Reason(""), verify(nil))
	assert.Equal(t, oidc.Reason(""), verify(map[string]any{"exp": seconds(24 * time.Hour)}))
	assert.Equal(t, "1 1", f.fetches())
	f.Publish(issuer.NewKey("RS256", "other").JWK())
	f.advance(time.Minute)
	assert.Equal(t, oidc.Reason(""), verify(nil)) // the keys are kept for an hour
	f.advance(3 * time.Hour)
	assert.Equal(t, oidc.UnknownKey, verify(nil)) // the issuer has replaced its key
}

// TestIssuersOfWorkloads checks that the keys of the five issuers that were used last are kept.
func TestIssuersOfWorkloads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	issuers := oidc.NewIssuers(oidc.Config{Now: f.Now, Logger: slog.New(slog.DiscardHandler), Transport: f.Transport(),
		FetchTimeout: time.Minute})
	var all []*issuer.Issuer
	for range 6 {
		all = append(all, issuer.New(t))
	}
	use := func(i *issuer.Issuer) {
		t.Helper()
		token, err := oidc.Parse(i.Token(f.Now(), nil))
		assert.OK(t, err)
		assert.OK(t, issuers.Verify(t.Context(), token, i.URL, issuer.ClientID))
	}
	for _, i := range []int{0, 1, 2, 3, 4, 0, 5, 0, 1} { // 5 replaces 1, and 1 replaces 2
		use(all[i])
	}
	var fetches []int
	for _, i := range all {
		fetches = append(fetches, i.Fetches(issuer.KeysPath))
	}
	assert.Equal(t, []int{1, 2, 1, 1, 1, 1}, fetches)
	token, err := oidc.Parse(f.token(issuer.KeyFor("ES256")))
	assert.OK(t, err)
	assert.Equal(t, oidc.WrongIssuer, reason(t, issuers.Verify(t.Context(), token, "http://127.0.0.1/", issuer.ClientID)))
}
