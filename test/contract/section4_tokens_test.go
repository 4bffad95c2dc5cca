package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// pats is the response with a list of tokens.
type pats struct{ PATs []token }

// A token is created, read twice, and deleted, as Terraform does.
func TestSection49Tokens(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), text(s.account(t, user.ServiceAccount, auth.RoleViewer))
	list := get("/api/admin/service-account/" + account + "/token").as(admin)
	s.send(t, list).body200(t, `{"pats":[]}`)
	var want pats
	var secrets []string
	bodies := []string{anyToken(), anyToken()}
	for _, body := range bodies {
		created := s.create(t, admin, account, body)
		secrets, created.Secret = append(secrets, created.Secret), ""
		want.PATs = append(want.PATs, created)
	}
	for range 2 {
		var got pats
		r := s.send(t, list).want(t, 200)
		r.decode(t, &got)
		if diff := cmp.Diff(want, got); diff != "" || strings.Contains(r.body, "secret") {
			t.Error(diff)
		}
	}
	one := list.at(list.target + "/" + text(want.PATs[0].ID))
	remove := one
	remove.method = http.MethodDelete
	if r := s.send(t, remove).want(t, 200); r.body != "" {
		t.Errorf("body %q", r.body)
	}
	s.send(t, get(typesPath).as(secrets[0])).want(t, 401)
	s.send(t, get(typesPath).as(secrets[1])).want(t, 200)
	s.send(t, one).error(t, 404)
	s.send(t, remove).error(t, 404)
	for range 9 {
		s.create(t, admin, account, anyToken())
	}
	s.send(t, postToken(account, bodies[0]).as(admin)).error(t, 403)
	s.send(t, remove.at(list.target+"/"+text(want.PATs[1].ID))).want(t, 200)
	s.create(t, admin, account, bodies[0]) // the place and the description are free again
}

func TestSection410OwnTokens(t *testing.T) {
	t.Parallel()
	s := shared
	person, first := s.person(t, auth.RoleViewer)
	account := s.account(t, user.ServiceAccount, auth.RoleViewer)
	_, pipeline := s.pat(t, account, user.ServiceAccount, time.Hour)
	path := strings.TrimSuffix(tokensPath, "/")
	post := call{method: http.MethodPost, target: path}
	for owner, secret := range map[int64]string{person: first, account: pipeline} {
		var created token
		s.send(t, post.as(secret).with(newToken(`"d"`))).want(t, 201).decode(t, &created)
		if created.UserID != owner {
			t.Errorf("user %d, want %d", created.UserID, owner)
		}
		s.send(t, post.as(created.Secret).with(newToken(`"d"`))).message(t, 409, "The account already has a token with this description.")
		var got pats
		s.send(t, get(path).as(secret)).want(t, 200).decode(t, &got)
		if len(got.PATs) != 2 || got.PATs[1].ID != created.ID {
			t.Errorf("tokens %+v", got)
		}
	}
	for range 8 {
		s.send(t, post.as(first).with(anyToken())).want(t, 201)
	}
	s.send(t, post.as(first).with(anyToken())).message(t, 403, "The account has reached the maximum number of tokens (10), including expired ones.")
}

func TestSection412OwnUser(t *testing.T) {
	t.Parallel()
	s := shared
	for role, permissions := range map[auth.Role]string{
		auth.RoleAdmin: `{"permission":"ADMIN"}`, auth.RoleViewer: "",
		auth.RoleEditor: `{"permission":"CREATE_CONTEXT_FIELD"},{"permission":"UPDATE_CONTEXT_FIELD"},{"permission":"DELETE_CONTEXT_FIELD"}`,
	} {
		for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
			id := s.account(t, kind, role)
			_, token := s.pat(t, id, kind, time.Hour)
			username := ""
			if kind == user.ServiceAccount {
				u, err := s.users.Get(t.Context(), id)
				must(t, err)
				username = fmt.Sprintf(`"username":%q,`, u.Username)
			}
			s.send(t, get("/api/admin/user").as(token)).body200(t, fmt.Sprintf(
				`{"user":{"id":%d,"name":"account",%s"rootRole":%d,"isAPI":false},"permissions":[%s]}`, id, username, role.ID(), permissions))
		}
	}
}
