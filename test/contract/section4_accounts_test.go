package contract_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const accountsPath = "/api/admin/service-account"

// listed returns an account of the list as JSON, or "" if it is not in the list.
func (s *service) listed(t *testing.T, id int64) string {
	t.Helper()
	var list struct {
		ServiceAccounts []json.RawMessage
		RootRoles       []any
	}
	s.send(t, get(accountsPath).as(s.APIToken)).want(t, 200).decode(t, &list)
	for _, account := range list.ServiceAccounts {
		if strings.HasPrefix(string(account), fmt.Sprintf(`{"id":%d,`, id)) {
			return string(account)
		}
	}
	return ""
}

// An account is created, read twice, changed, read and deleted, as Terraform does. Terraform reads the list.
func TestSection48ServiceAccounts(t *testing.T) {
	t.Parallel()
	s := shared
	username := rand.Text()
	create := call{method: http.MethodPost, target: accountsPath, body: `{"username":"` + username + `","name":"one","rootRole":3}`}.as(s.APIToken)
	created := s.send(t, create).want(t, 201)
	var account struct{ ID int64 }
	must(t, json.Unmarshal([]byte(created.body), &account))
	for range 2 {
		if diff := cmp.Diff(created.body, s.listed(t, account.ID)); diff != "" {
			t.Error(diff)
		}
	}
	s.send(t, create.with(strings.Replace(create.body, username, strings.ToLower(username), 1))).error(t, 409)
	one := create.at(accountsPath + "/" + text(account.ID))
	one.method = http.MethodPut
	updated := s.send(t, one.with(`{"rootRole":1,"name":"two"}`)).want(t, 200).body
	want := strings.NewReplacer(`"one"`, `"two"`, `"rootRole":3`, `"rootRole":1`).Replace(created.body)
	if updated != want || s.listed(t, account.ID) != want {
		t.Errorf("%s, want %s", updated, want)
	}
	secret := s.create(t, s.APIToken, text(account.ID), anyToken()).Secret
	s.send(t, get(accountsPath).as(secret)).want(t, 200)
	s.send(t, one.with(`{"rootRole":2}`)).want(t, 200)
	s.send(t, get(accountsPath).as(secret)).error(t, 403)
	one.method = http.MethodDelete
	if r := s.send(t, one).want(t, 200); r.body != "" {
		t.Errorf("body %q", r.body)
	}
	s.send(t, get(typesPath).as(secret)).want(t, 401)
	s.send(t, one).error(t, 404)
	if got := s.listed(t, account.ID); got != "" {
		t.Errorf("the deleted account is listed: %s", got)
	}
}
