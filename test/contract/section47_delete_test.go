package contract_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

const textNoPAT = "You have no personal access token with this id."

// TestSection47_Delete: "200 with an empty body. A PAT may delete itself. The PAT, its description's reservation and its place in the limit
// go in one transaction; the next request with it is 401."
func TestSection47_Delete(t *testing.T) {
	t.Parallel()
	s := shared
	for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
		for _, role := range []auth.Role{auth.RoleAdmin, auth.RoleEditor, auth.RoleViewer} {
			t.Run(fmt.Sprint("own PAT of kind ", kind, ", ", role), func(t *testing.T) {
				t.Parallel()
				owner := s.account(t, kind, role)
				token := s.pat(t, owner, kind)
				id, other := s.patUntil(t, owner, kind, time.Now().AddDate(1, 0, 0))
				s.send(t, get(typesPath).as(other)).want(t, 200)
				if a := s.send(t, deleteToken(text(id)).as(token)).want(t, 200); a.body != "" {
					t.Errorf("the body %q", a.body)
				}
				s.send(t, get(typesPath).as(other)).wantMessage(t, 401, textUnauthorized)
				s.send(t, get(typesPath).as(token)).want(t, 200)
				reserved, stored := s.tokensOf(t, owner)
				if len(reserved) != 1 || len(stored) != 1 || stored[0].ID == id {
					t.Errorf("left: %v, %v", reserved, stored)
				}
			})
			t.Run(fmt.Sprint("itself, of kind ", kind, ", ", role), func(t *testing.T) {
				t.Parallel()
				owner := s.account(t, kind, role)
				id, token := s.patUntil(t, owner, kind, time.Now().AddDate(1, 0, 0))
				s.send(t, deleteToken(text(id)).as(token)).want(t, 200)
				s.send(t, deleteToken(text(id)).as(token)).wantMessage(t, 401, textUnauthorized)
				if reserved, stored := s.tokensOf(t, owner); len(reserved)+len(stored) != 0 {
					t.Errorf("left: %v, %v", reserved, stored)
				}
			})
		}
	}
}

// TestSection47_NotFound: "Anything that is not a PAT of the caller (unknown, another user's, not a number, deleted before): 404, the same
// text for all, so nothing is revealed."
func TestSection47_NotFound(t *testing.T) {
	t.Parallel()
	s := shared
	caller, token := s.person(t, auth.RoleAdmin)
	mine, _ := s.patUntil(t, caller, user.Person, time.Now().AddDate(1, 0, 0))
	gone, _ := s.patUntil(t, caller, user.Person, time.Now().AddDate(1, 0, 0))
	s.send(t, deleteToken(text(gone)).as(token)).want(t, 200)
	other := s.account(t, user.Person, auth.RoleViewer)
	others, othersToken := s.patUntil(t, other, user.Person, time.Now().AddDate(1, 0, 0))
	account := s.serviceAccount(t)
	robots, _ := s.patUntil(t, account, user.ServiceAccount, time.Now().AddDate(1, 0, 0))
	api := s.apiTokenUntil(t, nil)
	for name, id := range map[string]string{
		"unknown": "2147483647", "another user's": text(others), "a service account's, asked by an administrator": text(robots), "deleted before": text(gone), "an API token's": api.Selector.String(),
		"not a number": "mine", "0, the counter's": "0", "above 32 bits": "2147483648", "wrapped to 32 bits": text(mine + 1<<32), "wrapped to 64 bits": wrapped(mine), "hexadecimal": fmt.Sprintf("0x%x", mine), "a sign": "+" + text(mine),
		"negative": "-" + text(mine), "a leading zero": "0" + text(mine), "a fraction": text(mine) + ".0", "an exponent": text(mine) + "e0", "white space": text(mine) + "%20", "a byte 0": text(mine) + "%00", "no UTF-8": text(mine) + "%FF",
		"very long": strings.Repeat("1", 300), "a list": text(mine) + ",1", "a slash": text(mine) + "%2F",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.send(t, deleteToken(id).as(token)).wantMessage(t, 404, textNoPAT)
		})
	}
	t.Run("and nothing is deleted", func(t *testing.T) {
		t.Parallel()
		s.send(t, get(typesPath).as(othersToken)).want(t, 200)
		for owner, id := range map[int64]int64{caller: mine, other: others, account: robots} {
			if s.item(t, "PersonalAccessTokens", pat.Key(owner, id)) == nil {
				t.Errorf("the PAT of %d is gone", owner)
			}
		}
	})
}

// TestSection47_Concurrently: of many deletions of one PAT one is 200, the others find nothing or are themselves refused.
func TestSection47_Concurrently(t *testing.T) {
	t.Parallel()
	s := shared
	owner, token := s.person(t, auth.RoleViewer)
	id, _ := s.patUntil(t, owner, user.Person, time.Now().AddDate(1, 0, 0))
	statuses := map[int]int{}
	var mu sync.Mutex
	var running sync.WaitGroup
	for range 12 {
		running.Go(func() {
			a := s.send(t, deleteToken(text(id)).as(token))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	running.Wait()
	if statuses[200] != 1 || statuses[404] != 11 {
		t.Errorf("statuses %v", statuses)
	}
}
