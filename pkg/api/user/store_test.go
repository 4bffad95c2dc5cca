package user_test

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestItems reads accounts, and checks that Create stores every property, but no tokens, and keeps an existing account.
func TestItems(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	for want, item := range map[string]dynamo.Item{
		`{"ID":2147483647,"Kind":"user","Name":"n","Username":"","Email":"e@example.com","Role":"Admin","Disabled":true,` +
			`"PATs":{"k":7},"Identity":{"issuer":"https://issuer.example.com","subject":"s"},"Groups":null,"Claim":null,` +
			`"CreatedAt":"2026-11-22T08:00:00.001Z","LastEvent":9}`: {
			"id": dynamo.N(math.MaxInt32), "kind": dynamo.S("user"), "name": dynamo.S("n"),
			"email": dynamo.S("e@example.com"), "rootRole": dynamo.N(1), "disabled": dynamo.Bool(true),
			"pats":      dynamo.M(dynamo.Item{"k": dynamo.N(7)}),
			"identity":  dynamo.M(dynamo.Item{"issuer": dynamo.S(issuer), "subject": dynamo.S("s")}),
			"createdAt": dynamo.S("2026-11-22T08:00:00.001Z"), eventlog.AttributeEvent: dynamo.N(9),
		},
		`{"ID":7,"Kind":"service-account","Name":"n","Username":"u","Email":"","Role":"Editor","Disabled":false,` +
			`"PATs":{},"Identity":null,"Groups":null,"Claim":null,"CreatedAt":null,"LastEvent":0}`: {
			"id": dynamo.N(7), "kind": dynamo.S("service-account"), "name": dynamo.S("n"), "username": dynamo.S("u"),
			"rootRole": dynamo.N(2), "disabled": dynamo.Bool(false), "pats": dynamo.M(nil),
		},
	} {
		db.Put(t, db.Tables["Users"], item)
		account, err := store.Get(t.Context(), item.Int("id"))
		assert.OK(t, err)
		text, err := json.Marshal(account)
		assert.OK(t, err)
		assert.Equal(t, want, string(text))
		assert.Equal(t, cmp.Or(account.Username, account.Name), account.RecordedName())
		account.ID--
		other := account
		other.Name = "other"
		assert.OK(t, store.Create(t.Context(), account), store.Create(t.Context(), other))
		item["id"], item["pats"] = dynamo.N(account.ID), dynamo.M(nil)
		got := db.Get(t, db.Tables["Users"], user.Key(account.ID))
		item[eventlog.AttributeEvent] = got[eventlog.AttributeEvent] // of the creation
		assert.Equal(t, item, got, database.Items())
	}
}

func TestUnknownAccounts(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	// They create the counter, 0, and the number of accounts, -1.
	add(t, store, person("ada", "ada@example.com"), serviceAccount("ci"))
	// Update changes only accounts of the kind.
	rename := func(u *user.User) error {
		u.Name = "n"
		return nil
	}
	assert.Equal(t, apierror.NotFound, apierror.KindOf(failure(store.Update(t.Context(), user.ServiceAccount, 1, rename))))
	for _, id := range []int64{0, -1, 3, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64} {
		for _, err := range []error{failure(store.Get(t.Context(), id)), store.SetDisabled(t.Context(), id, true, false),
			failure(store.Update(t.Context(), user.ServiceAccount, id, rename)),
			failure(store.Link(t.Context(), id, identity("s"))), failure(store.Unlink(t.Context(), id)),
			failure(store.BeginDeletion(t.Context(), user.ServiceAccount, id, nil))} {
			assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
		}
	}
	requireItems(t, db, 6)
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	refuse := func(operation string) *user.Store { return through(db, db.Refusing(t, operation)) }
	ctx := t.Context()
	assert.OK(t, store.Create(ctx, user.User{ID: 7, Kind: user.ServiceAccount}))
	reads, counts, writes := refuse("GetItem"), refuse("UpdateItem"), refuse(transact)
	_, list := refuse("Scan").List(ctx)
	_, unfinished := refuse("Scan").Unfinished(ctx)
	for want, err := range map[string]error{
		"get user 7: ":                      failure(reads.Get(ctx, 7)),
		"get the link of an identity: ":     failure(reads.SignIn(ctx, signIn("s", ""))),
		"list users: ":                      list,
		"list unfinished deletions: ":       unfinished,
		"take an id for a user: ":           failure(counts.Add(ctx, user.User{}, user.DefaultLimit)),
		"raise the counter of users to 7: ": counts.Create(ctx, user.User{ID: 7}),
		"add user 8: ":                      failure(writes.Add(ctx, user.User{}, user.DefaultLimit)),
		"change user 7: ":                   writes.SetDisabled(ctx, 7, true, false),
		"begin the deletion of user 7: ":    failure(writes.BeginDeletion(ctx, user.ServiceAccount, 7, nil)),
		"create user 7: ":                   writes.Create(ctx, user.User{ID: 7}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
