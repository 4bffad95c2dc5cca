package serviceaccount_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	for _, tt := range []struct {
		tokens, transactions int // of the tokens
	}{
		{0, 0}, {50, 1}, {51, 2},
	} {
		id, _ := f.account(t, "deleted", tt.tokens)
		client, tap := f.Through(t, nil)
		handler := serviceaccount.Delete(serviceaccount.NewStore(client, f.Tables, f.LogThrough(client)))
		calls := "GetItem TransactWriteItems Query" + strings.Repeat(" TransactWriteItems Query", tt.transactions) +
			" GetItem TransactWriteItems"
		if status, got := send(t, handler, fmt.Sprint(id), ""); status != http.StatusOK || got != "" || tap.Calls() != calls {
			t.Errorf("%d tokens: %d %s, calls %s", tt.tokens, status, got, tap.Calls())
		}
		if diff := cmp.Diff(before, f.items(t), cmp.Comparer(equalItems)); diff != "" {
			t.Error(diff)
		}
		if status, got := send(t, handler, fmt.Sprint(id), ""); status != 404 ||
			got != fmt.Sprintf("There is no service account with the id \"%d\".", id) {
			t.Errorf("a second time: %d %s", status, got)
		}
	}
	for _, id := range []string{"1", "0", "-2", "x", "2.5", "99"} { // 1 is a person
		if status, got := send(t, f.remove, id, ""); status != 404 {
			t.Errorf("%s: %d %s", id, status, got)
		}
	}
}

func equalItems(a, b dynamo.Item) bool { return database.DiffItems(a, b) == "" }

// TestRounds checks that creations and deletions leave nothing but the counters.
func TestRounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.items(t)
	for range 100 {
		id, _ := f.account(t, "round", 1)
		if status, got := send(t, f.remove, fmt.Sprint(id), ""); status != http.StatusOK {
			t.Fatal(status, got)
		}
	}
	if diff := cmp.Diff(before, f.items(t), cmp.Comparer(equalItems)); diff != "" {
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
				if diff := cmp.Diff(before, f.items(t), cmp.Comparer(equalItems)); diff != "" {
					t.Error(diff)
				}
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
	if status, got := send(t, f.update, fmt.Sprint(id), `{"rootRole":1}`); status != 404 {
		t.Errorf("update: %d %s", status, got)
	}
	if err := f.users.SetDisabled(t.Context(), id, false); !errors.Is(err, user.ErrNotFound) {
		t.Errorf("enable: %v", err)
	}
	p := pat.PAT{UserID: id, Description: "new", ExpiresAt: now().AddDate(1, 0, 0)}
	for _, kind := range []user.Kind{user.ServiceAccount, user.Person, pat.AnyKind} {
		if _, _, err := f.pats.Create(t.Context(), p, pat.Owner{Kind: kind, Limit: 100}); !errors.Is(err, pat.ErrNoOwner) {
			t.Errorf("create a token: %v", err)
		}
	}
	if status, got := send(t, f.create, "", `{"username":"CI","name":"n","rootRole":2}`); status != 409 {
		t.Errorf("create an account with its username: %d %s", status, got)
	}
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
	if status, got := send(t, f.create, "", `{"username":"ci","name":"n","rootRole":2}`); status != 409 {
		t.Errorf("%d %s", status, got)
	}
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
	if diff := cmp.Diff(before, f.items(t), cmp.Comparer(equalItems)); diff != "" {
		t.Error(diff)
	}
}

// TestTokensOfDeletedAccountsAreRejected deletes 1,000 accounts and authenticates immediately after each deletion.
func TestTokensOfDeletedAccountsAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const accounts, clients = 1000, 8
	tokens := f.accountsWithTokens(t, accounts)
	authenticator := f.authenticator()
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			for i := client; i < accounts; i += clients {
				userID, _, _ := tokens[i].Selector.PATIDs()
				if _, err := authenticator.Authenticate(t.Context(), tokens[i].Reveal()); err != nil && i < clients {
					t.Errorf("the token of %d is not valid: %v", userID, err)
				}
				if err := f.store.Delete(t.Context(), userID); err != nil {
					t.Error(err)
				}
				if _, err := authenticator.Authenticate(t.Context(), tokens[i].Reveal()); err == nil {
					t.Errorf("the token of %d was accepted", userID)
				}
			}
		})
	}
	running.Wait()
}

// accountsWithTokens writes service accounts with one token each, without the calls of the stores.
func (f *fixture) accountsWithTokens(t *testing.T, n int) (tokens []access.Token) {
	t.Helper()
	var writes []types.WriteRequest
	flush := func(table string, all []types.WriteRequest) {
		for len(all) > 0 {
			size := min(25, len(all))
			_, err := f.Client.BatchWriteItem(t.Context(),
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: all[:size]}})
			check(t, err)
			all = all[size:]
		}
	}
	var pats []types.WriteRequest
	for i := range n {
		id := int64(i + 100)
		token, err := access.NewToken(access.PAT, access.PATSelector(id, id), rand.Reader)
		check(t, err)
		tokens = append(tokens, token)
		verifier := token.Verifier()
		item := pat.Key(id, id)
		item["verifier"], item["description"] = dynamo.B(verifier[:]), dynamo.S("d")
		item["expiresAt"], item["createdAt"], item["seenAt"] = dynamo.Time(now().AddDate(1, 0, 0)), dynamo.Time(now()),
			dynamo.Time(now())
		pats = append(pats, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: dynamo.Item{
			"id": dynamo.N(id), "kind": dynamo.S("service-account"), "username": dynamo.S(fmt.Sprint(i)),
			"rootRole": dynamo.S("Editor"),
			"disabled": dynamo.Bool(false), "pats": dynamo.M(dynamo.Item{pat.DescriptionKey("d"): dynamo.N(id)}),
		}}})
	}
	flush(f.Tables.Users, writes)
	flush(f.Tables.PersonalAccessTokens, pats)
	return tokens
}
