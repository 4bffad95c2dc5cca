package serviceaccount_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func (f *fixture) authenticator() *authorizer.Authenticator {
	return &authorizer.Authenticator{Store: authorizer.NewStore(f.Client, f.Tables, f.Log()), Now: now,
		Logger: slog.New(slog.DiscardHandler)}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "kept", 1)
	before := f.items(t)
	for tokens, transactions := range map[int]int{0: 0, 50: 1, 51: 2} { // transactions of the tokens
		id, _ := f.account(t, "deleted", tokens)
		client, tap := f.Through(t, nil)
		calls := "GetItem TransactWriteItems Query" + strings.Repeat(" TransactWriteItems Query", transactions) +
			" GetItem TransactWriteItems"
		check(t, serviceaccount.NewStore(client, f.Tables, f.LogThrough(client)).Delete(t.Context(), id))
		if tap.Calls() != calls {
			t.Errorf("%d tokens: calls %s", tokens, tap.Calls())
		}
		f.requireItems(t, before)
	}
	id, _ := f.account(t, "deleted", 1)
	f.Run(t.Context(), t, strings.ReplaceAll(`
		delete | ID | | 200
		delete | ID | | 404 NotFoundError: There is no service account with the id "ID".
		# a person
		delete | 1 | | 404 …
		delete | 0 | | 404 …
		delete | x | | 404 …
		delete | 2.5 | | 404 …
		delete | 99 | | 404 …
	`, "ID", fmt.Sprint(id)))
	f.requireItems(t, before)
}

func (f *fixture) requireItems(t *testing.T, want []dynamo.Item) {
	t.Helper()
	equal := cmp.Comparer(func(a, b dynamo.Item) bool { return database.DiffItems(a, b) == "" })
	if diff := cmp.Diff(want, f.items(t), equal); diff != "" {
		t.Error(diff)
	}
}

var errCrash = errors.New("crash")

// TestInterruptedDelete stops a deletion at each of its transactions, before or after it is carried out.
func TestInterruptedDelete(t *testing.T) {
	t.Parallel()
	for crash := 1; crash <= 4; crash++ {
		for _, carriedOut := range []bool{false, true} {
			if crash == 1 && !carriedOut {
				continue // nothing is written
			}
			t.Run(fmt.Sprintf("transaction %d, carried out: %t", crash, carriedOut), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				before := f.items(t)
				id, tokens := f.account(t, "ci", 51)
				ctx, cancel := context.WithCancel(t.Context())
				client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
					if c.Operation != "TransactWriteItems" || c.N < crash {
						return c.Pass()
					}
					defer cancel()
					if carriedOut && c.N == crash {
						return c.Lose()
					}
					return nil, errCrash
				})
				if err := serviceaccount.NewStore(client, f.Tables, f.LogThrough(client)).Delete(ctx, id); err == nil {
					t.Error("the deletion did not fail")
				}
				if ended := crash == 4 && carriedOut; !ended {
					f.requireUnusable(t, id, tokens)
					check(t, f.store.Delete(t.Context(), id))
				}
				f.requireItems(t, before)
				if err := f.store.Delete(t.Context(), id); !errors.Is(err, user.ErrNotFound) {
					t.Error(err)
				}
			})
		}
	}
}

// requireUnusable fails the test if anything but a deletion accepts an account whose deletion has begun.
func (f *fixture) requireUnusable(t *testing.T, id int64, tokens []access.Token) {
	t.Helper()
	for _, token := range tokens {
		if _, err := f.authenticator().Authenticate(t.Context(), token.Reveal()); err == nil {
			t.Error("a token is accepted")
		}
	}
	if all, err := f.store.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("listed: %v, %v", all, err)
	}
	f.Run(t.Context(), t, fmt.Sprintf(`update | %d | {"rootRole":1} | 404 …`, id))
	if err := f.users.SetDisabled(t.Context(), id, false); !errors.Is(err, user.ErrNotFound) {
		t.Errorf("enable: %v", err)
	}
	p := pat.PAT{UserID: id, Description: "new", ExpiresAt: now().AddDate(1, 0, 0)}
	for _, kind := range []user.Kind{user.ServiceAccount, user.Person, pat.AnyKind} {
		if _, _, err := f.pats.Create(t.Context(), p, pat.Owner{Kind: kind, Limit: 100}); !errors.Is(err, pat.ErrNoOwner) {
			t.Errorf("create a token: %v", err)
		}
	}
	f.Run(t.Context(), t, `create | | {"username":"CI","name":"n","rootRole":2} | 409 …`)
	unfinished, err := f.users.Unfinished(t.Context())
	if err != nil || len(unfinished) != 1 || unfinished[0].ID != id {
		t.Errorf("unfinished: %v, %v", unfinished, err)
	}
}

// TestDeleteAfterUsernameIsTaken checks that a slow deletion does not delete the reservation of a new account with the
// same username.
func TestDeleteAfterUsernameIsTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.account(t, "ci", 0)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 2 {
			check(t, f.store.Delete(t.Context(), id))
			f.account(t, "ci", 0)
		}
		return c.Pass()
	})
	check(t, serviceaccount.NewStore(client, f.Tables, f.LogThrough(client)).Delete(t.Context(), id))
	f.Run(t.Context(), t, `create | | {"username":"ci","name":"n","rootRole":2} | 409 …`)
}

// TestDeleteWithoutReservation deletes an account whose username another account has reserved, because one table was
// restored.
func TestDeleteWithoutReservation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "ci", 0)
	before := f.items(t)
	other := user.Key(50)
	other["kind"], other["username"], other["pats"] = dynamo.S(string(user.ServiceAccount)), dynamo.S("CI"), dynamo.M(nil)
	f.Put(t, f.Tables.Users, other)
	check(t, f.store.Delete(t.Context(), 50))
	f.requireItems(t, before)
}
