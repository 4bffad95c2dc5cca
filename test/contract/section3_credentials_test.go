package contract_test

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// credential is a value of Authorization.
type credential struct {
	name   string
	token  string
	header http.Header // in place of token, where the client must send something odd
}

// invalidCredentials are all that must be 401.
func invalidCredentials(t *testing.T, s *service) []credential {
	t.Helper()
	past := time.Now().Add(-time.Second)
	api := s.apiToken(t)
	userID, good := s.person(t, auth.RoleAdmin)
	unknown := func(kind auth.TokenKind, selector auth.Selector) string {
		token, err := auth.NewToken(kind, selector, rand.Reader)
		must(t, err)
		return token.Reveal()
	}
	expiring := func(owner int64, kind user.Kind) string {
		_, token := s.patUntil(t, owner, kind, past)
		return token
	}
	revokedID, revoked := s.patUntil(t, userID, user.Person, time.Now().AddDate(1, 0, 0))
	must(t, s.pats().Delete(patient(t), userID, revokedID))
	revokedAPI := s.apiTokenUntil(t, nil)
	s.remove(t, "ApiTokens", dynamo.Item{"id": dynamo.S(revokedAPI.Selector.String())})
	disabled, disabledToken := s.person(t, auth.RoleAdmin)
	must(t, s.users().SetDisabled(patient(t), disabled, true))
	disabledAccount := s.serviceAccount(t)
	disabledAccountToken := s.pat(t, disabledAccount, user.ServiceAccount)
	must(t, s.users().SetDisabled(patient(t), disabledAccount, true))
	deleted, deletedToken := s.person(t, auth.RoleAdmin)
	s.remove(t, "Users", user.Key(deleted))
	selector := func(token string) string { return token[len(token)-66 : len(token)-44] }
	swap := func(token, old, with string) string { return strings.Replace(token, old, with, 1) }
	return []credential{
		{name: "a missing one"},
		{name: "an empty one", header: http.Header{"Authorization": {""}}},
		{name: "two of them", header: http.Header{"Authorization": {good, good}}},
		{name: "a malformed one", token: "nonsense"},
		{name: "Bearer alone", token: "Bearer"},
		{name: "another scheme", token: "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+good))},
		{name: "Bearer twice", token: strings.Repeat("Bearer ", 2) + good},
		{name: "Bearer without a space", token: "Bearer" + good},
		{name: "a prefix in upper case", token: swap(good, "user:", "USER:")},
		{name: "no prefix", token: swap(good, "user:", "")},
		{name: "a PAT with an API token's prefix", token: swap(good, "user:", "*:*.")},
		{name: "an API token with a PAT's prefix", token: swap(api, "*:*.", "user:")},
		{name: "another version", token: swap(good, "v2_", "v3_")},
		{name: "the older form of a PAT", token: "user:" + strings.Repeat("ab", 28)},
		{name: "a client token", token: "default:development." + strings.Repeat("ab", 28)},
		{name: "a token cut short", token: good[:len(good)-1]},
		{name: "a token with more behind it", token: good + "A"},
		{name: "a token with padding", token: good + "="},
		{name: "a second spelling of the secret", token: respell(good)},
		{name: "a letter of standard base64", token: good[:len(good)-2] + "+" + good[len(good)-1:]},
		{name: "a PAT of user 0", token: unknown(auth.PAT, auth.PATSelector(0, 0))},
		{name: "an unknown PAT", token: unknown(auth.PAT, auth.PATSelector(userID, 2147483647))},
		{name: "an unknown user's PAT", token: unknown(auth.PAT, auth.PATSelector(2147483647, 1))},
		{name: "an unknown API token", token: unknown(auth.APIToken, auth.Selector{15: 1})},
		{name: "a PAT's wrong secret", token: unknown(auth.PAT, mustParse(t, good).Selector)},
		{name: "an API token's wrong secret", token: unknown(auth.APIToken, mustParse(t, api).Selector)},
		{name: "another's secret", token: swap(good, selector(good), selector(s.viewer(t)))},
		{name: "an expired PAT", token: expiring(userID, user.Person)},
		{name: "a service account's expired PAT", token: expiring(s.serviceAccount(t), user.ServiceAccount)},
		{name: "an expired API token", token: s.apiTokenUntil(t, &past).Reveal()},
		{name: "a revoked PAT", token: revoked},
		{name: "a revoked API token", token: revokedAPI.Reveal()},
		{name: "a disabled user's", token: disabledToken},
		{name: "a disabled service account's", token: disabledAccountToken},
		{name: "a deleted user's", token: deletedToken},
		{name: "a JWT of nobody", token: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."},
	}
}

func mustParse(t *testing.T, text string) auth.Token {
	t.Helper()
	token, err := auth.ParseToken(text)
	must(t, err)
	return token
}

// respell changes the last letter of a secret to one that decodes to the same bytes where decoding is not strict: 43 letters of base64url
// are 258 bits, two more than 32 bytes have.
func respell(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + alphabet[last+1:last+2]
}

// TestSection3_WalkEveryOperationAndCredential: the table of section 3, each operation with each kind of valid credential: what it needs,
// and what a valid credential without it gets. (TestSection1_Unauthorized walks the invalid ones.)
func TestSection3_WalkEveryOperationAndCredential(t *testing.T) {
	t.Parallel()
	s := shared
	type principal struct {
		name  string
		user  int64
		admin bool
		token string
	}
	principals := []principal{{name: "an API token", admin: true, token: s.apiToken(t)}}
	for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
		for _, role := range []auth.Role{auth.RoleAdmin, auth.RoleEditor, auth.RoleViewer} {
			id := s.account(t, kind, role)
			principals = append(principals, principal{"a PAT of kind " + string(kind) + ", " + string(role), id, role == auth.RoleAdmin, s.pat(t, id, kind)})
		}
	}
	for _, p := range principals {
		for _, op := range operations() {
			t.Run(op.name+" with "+p.name, func(t *testing.T) {
				t.Parallel()
				a := s.send(t, op.valid(t, s, p.user).as(p.token))
				switch {
				case op.needs == adminPermission && !p.admin:
					a.wantMessage(t, 403, textAdmin)
				case op.needs == identifiableUser && p.user == 0 && op.success == 200 && a.call.method == http.MethodPut:
					a.wantMessage(t, 401, "This operation requires a token that identifies a user.")
				case op.needs == identifiableUser && p.user == 0:
					a.wantMessage(t, 403, "You need a token that identifies a user to perform this operation.")
				default:
					a.want(t, op.success)
				}
			})
		}
	}
}

// TestSection3_Credentials: the table of credentials and the notes below it.
func TestSection3_Credentials(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	t.Run("an API token looks like *:*.v2_selector_secret", func(t *testing.T) {
		t.Parallel()
		wantShape(t, s.apiToken(t), "*:*.v2_")
		wantShape(t, s.APIToken, "*:*.v2_")
	})
	account := s.serviceAccount(t)
	created := s.createToken(t, admin, account, newToken())
	t.Run("a PAT looks like user:v2_selector_secret", func(t *testing.T) {
		t.Parallel()
		wantShape(t, created.Secret, "user:v2_")
	})
	t.Run("the selector is the owner's id and the PAT's own, 8 bytes each", func(t *testing.T) {
		t.Parallel()
		selector, err := base64.RawURLEncoding.Strict().DecodeString(created.Secret[8:30])
		must(t, err)
		want := auth.PATSelector(account, created.ID)
		if string(selector) != string(want[:]) {
			t.Errorf("selector %x, want %x", selector, want)
		}
	})
	t.Run("only SHA-256 of the secret is stored", func(t *testing.T) {
		t.Parallel()
		item := s.item(t, "PersonalAccessTokens", pat.Key(account, created.ID))
		want := mustParse(t, created.Secret).Verifier()
		if string(item.Bytes("verifier")) != string(want[:]) {
			t.Errorf("the item's verifier is %x, want %x", item.Bytes("verifier"), want)
		}
		secret, err := base64.RawURLEncoding.Strict().DecodeString(created.Secret[31:])
		must(t, err)
		for name := range item {
			if text := item.String(name) + string(item.Bytes(name)); strings.Contains(text, created.Secret[31:]) || strings.Contains(text, string(secret)) {
				t.Errorf("the attribute %s has the secret", name)
			}
		}
	})
	t.Run("the plain token appears once, in the creation response", func(t *testing.T) {
		t.Parallel()
		for _, line := range s.log.all() {
			if strings.Contains(line.raw, created.Secret[31:]) {
				t.Errorf("the log shows it")
			}
		}
		again := s.createToken(t, admin, account, newToken())
		if again.Secret == created.Secret || again.Secret[31:] == created.Secret[31:] {
			t.Errorf("two tokens have one secret")
		}
	})
	t.Run("permissions are those of the user, read at each request", func(t *testing.T) {
		t.Parallel()
		id, token := s.person(t, auth.RoleViewer)
		c := get(trafficPath("2012-01")).as(token)
		s.send(t, c).want(t, 403)
		item := s.item(t, "Users", user.Key(id))
		item["rootRole"] = dynamo.S("Admin")
		s.put(t, "Users", item)
		s.send(t, c).want(t, 200)
		item["rootRole"] = dynamo.S("Editor")
		s.put(t, "Users", item)
		s.send(t, c).want(t, 403)
	})
	t.Run("a disabled user's tokens are 401 at once, and work again when it is enabled", func(t *testing.T) {
		t.Parallel()
		id, token := s.person(t, auth.RoleViewer)
		s.send(t, get(typesPath).as(token)).want(t, 200)
		must(t, s.users().SetDisabled(patient(t), id, true))
		s.send(t, get(typesPath).as(token)).wantMessage(t, 401, textUnauthorized)
		must(t, s.users().SetDisabled(patient(t), id, false))
		s.send(t, get(typesPath).as(token)).want(t, 200)
	})
	t.Run("expired PATs stay until they are deleted", func(t *testing.T) {
		t.Parallel()
		owner, token := s.person(t, auth.RoleViewer)
		id, expired := s.patUntil(t, owner, user.Person, time.Now().Add(-time.Hour))
		s.send(t, get(typesPath).as(expired)).want(t, 401)
		if s.item(t, "PersonalAccessTokens", pat.Key(owner, id)) == nil {
			t.Fatal("it is gone")
		}
		s.send(t, deleteToken(text(id)).as(token)).want(t, 200)
		if s.item(t, "PersonalAccessTokens", pat.Key(owner, id)) != nil {
			t.Fatal("it is still there")
		}
	})
	t.Run("a deleted token stops working at once", func(t *testing.T) {
		t.Parallel()
		owner := s.account(t, user.Person, auth.RoleViewer)
		id, token := s.patUntil(t, owner, user.Person, time.Now().AddDate(1, 0, 0))
		s.send(t, get(typesPath).as(token)).want(t, 200)
		s.send(t, deleteToken(text(id)).as(token)).want(t, 200)
		s.send(t, get(typesPath).as(token)).wantMessage(t, 401, textUnauthorized)
	})
}

func wantShape(t *testing.T, token, prefix string) {
	t.Helper()
	rest, ok := strings.CutPrefix(token, prefix)
	if !ok || len(rest) != 22+1+43 || rest[22] != '_' {
		t.Fatalf("a token of another shape: %d characters", len(token))
	}
	for part, size := range map[string]int{rest[:22]: 16, rest[23:]: 32} {
		if raw, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil || len(raw) != size {
			t.Errorf("a part of %d bytes, %v; want %d", len(raw), err, size)
		}
	}
}
