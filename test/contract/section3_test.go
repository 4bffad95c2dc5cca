package contract_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
)

// Each operation with each kind of credential. The document declares who may perform it.
func TestSection3Permissions(t *testing.T) {
	t.Parallel()
	s := shared
	type credential struct {
		name  string
		user  bool
		role  access.Role // an API token has the permissions of an Admin
		token string
	}
	credentials := []credential{{"API token", false, access.RoleAdmin, s.APIToken}}
	for _, role := range []access.Role{access.RoleAdmin, access.RoleEditor, access.RoleViewer} {
		for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
			_, token := s.pat(t, s.account(t, kind, role), kind, time.Hour)
			credentials = append(credentials, credential{string(kind) + " " + string(role), true, role, token})
		}
	}
	for _, op := range operations(t) {
		for _, c := range credentials {
			t.Run(op.name+" with "+c.name, func(t *testing.T) {
				t.Parallel()
				r := s.send(t, op.call.as(c.token))
				isViewer := c.role == access.RoleViewer
				for message, lacking := range map[string]bool{
					needs("ADMIN"): c.role != access.RoleAdmin, needs("CREATE_CONTEXT_FIELD"): isViewer,
					needs("UPDATE_CONTEXT_FIELD"): isViewer,
					needs("DELETE_CONTEXT_FIELD"): isViewer, needs("CREATE_FEATURE"): isViewer, needs("UPDATE_FEATURE"): isViewer,
					needs("DELETE_FEATURE"): isViewer, textNoUser401: !c.user, textNoUser403: !c.user,
				} {
					if status := op.denials[message]; status != 0 && lacking {
						r.message(t, status, message)
						return
					}
				}
				if r.status == 401 || r.status == 403 {
					t.Errorf("%s: %d %s", r, r.status, r.body)
				}
			})
		}
	}
}

func TestSection3InvalidCredentials(t *testing.T) {
	t.Parallel()
	s := shared
	owner, good := s.person(t, access.RoleAdmin)
	_, expired := s.pat(t, owner, user.Person, -time.Second)
	_, expiredAPIToken := s.newAPIToken(t, -time.Second)
	revokedID, revoked := s.pat(t, owner, user.Person, time.Hour)
	must(t, s.pats.Delete(t.Context(), pat.AnyKind, owner, revokedID))
	revokedSelector, revokedAPIToken := s.newAPIToken(t, time.Hour)
	must(t, apitoken.NewStore(s.db, s.tables, s.events).Delete(t.Context(), revokedSelector))
	disabled, disabledToken := s.person(t, access.RoleAdmin)
	must(t, s.users.SetDisabled(t.Context(), disabled, true))
	unknown, err := access.NewToken(access.PAT, access.PATSelector(owner, 2147483647), rand.Reader)
	must(t, err)
	for name, token := range map[string]string{
		"missing": "", "malformed": "nonsense", "another scheme": "Basic " + good, "unknown": unknown.Reveal(),
		"another secret": good[:len(good)-43] + revoked[len(revoked)-43:],
		"expired":        expired, "expired API token": expiredAPIToken, "revoked": revoked,
		"revoked API token": revokedAPIToken, "disabled user": disabledToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, op := range operations(t) {
				r := s.send(t, op.call.as(token))
				if r.message(t, 401, textUnauthorized); r.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: WWW-Authenticate %q", r, r.header.Values("WWW-Authenticate"))
				}
			}
		})
	}
}

func TestSection3Formats(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), s.account(t, user.ServiceAccount, access.RoleViewer)
	var created struct {
		ID     int64
		Secret string
	}
	must(t, json.Unmarshal([]byte(s.send(t, postToken(text(account), anyToken()).as(admin)).want(t, 201).body), &created))
	const encoded = `v2_[\w-]{22}_[\w-]{43}$`
	for format, token := range map[string]string{`^\*:\*\.`: s.APIToken, `^user:`: created.Secret} {
		if !regexp.MustCompile(format + encoded).MatchString(token) {
			t.Errorf("a token does not match %s", format)
		}
	}
	parsed, err := access.ParseToken(created.Secret)
	must(t, err)
	if parsed.Selector != access.PATSelector(account, created.ID) {
		t.Errorf("the selector is not of account %d and PAT %d", account, created.ID)
	}
	item, want := s.stored(t, account, created.ID), parsed.Verifier()
	if string(item.Bytes("verifier")) != string(want[:]) {
		t.Error("the stored verifier is not SHA-256 of the secret")
	}
	secret, err := base64.RawURLEncoding.DecodeString(created.Secret[31:])
	must(t, err)
	for name := range item {
		value := item.String(name) + string(item.Bytes(name))
		if strings.Contains(value, created.Secret[31:]) || strings.Contains(value, string(secret)) {
			t.Errorf("the attribute %s contains the secret", name)
		}
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for _, line := range s.log.lines {
		if strings.Contains(line.raw, created.Secret[31:]) {
			t.Error("the log contains the secret")
		}
	}
}

func TestSection3ExpiredTokensRemain(t *testing.T) {
	t.Parallel()
	s := shared
	owner, token := s.person(t, access.RoleViewer)
	id, expired := s.pat(t, owner, user.Person, -time.Hour)
	s.send(t, get(typesPath).as(expired)).want(t, 401)
	s.send(t, deleteToken(text(id)).as(token)).want(t, 200)
}
