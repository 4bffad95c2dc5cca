package pat_test

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestItems checks that a token is stored and returned as it was sent, with times in UTC with milliseconds.
func TestItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t, math.MaxInt32)
	fine := now().Add(987_654).In(time.FixedZone("", 7200))
	const description = " é\u0301\U0001F600#:\n "
	p := f.create(t, pat.PAT{ID: 99, UserID: math.MaxInt32, Description: description, ExpiresAt: fine.AddDate(1, 0, 0),
		CreatedAt: fine, SeenAt: &fine})
	item := f.Get(t, f.Tables["PersonalAccessTokens"], pat.Key(math.MaxInt32, 1))
	stored, err := pat.FromItem(item)
	assert.OK(t, err)
	assert.Equal(t, p, stored)
	assert.Equal(t, dynamo.Item{
		"userId": dynamo.N(math.MaxInt32), "id": dynamo.N(1), "verifier": dynamo.B(p.Verifier[:]),
		"description": dynamo.S(description),
		"createdAt":   dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2027-11-20T05:39:00.123Z"),
		"event": dynamo.N(p.LastEvent),
	}, item, database.Items())
}

func TestDescriptionKey(t *testing.T) {
	t.Parallel()
	// printf ci | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
	assert.Equal(t, "GxWIOfiqM56Ju1CxYD6Q7A", pat.DescriptionKey("ci"))
}

func TestCreateUpToTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	counter := pat.Key(0, 0)
	counter["lastId"] = dynamo.N(access.MaxID - 1)
	f.Put(t, f.Tables["PersonalAccessTokens"], counter)
	assert.Equal(t, int64(access.MaxID), f.create(t, newPAT(1, "last")).ID)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 10})
	h.Expect(ctx, t, "createOwn", "", `{"description":"one more","expiresAt":"2099-01-01T00:00:00Z"}`,
		"403 NoAccessError: All ids of tokens, up to 2147483647, are used up.")
	// A counter that is behind, for example because the table was restored from a backup.
	f.Put(t, f.Tables["PersonalAccessTokens"], counter)
	if err := create(t.Context(), f.pats, pat.AnyKind, newPAT(1, "one more")); err == nil ||
		!strings.Contains(err.Error(), "counter") {
		t.Error(err)
	}
}

func TestDeleteLosesTheRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	p := f.create(t, newPAT(1, "ci"))
	store := f.through(f.Before(t, transact, 1, func() {
		assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 1, p.ID))
		f.create(t, newPAT(1, "ci"))
	}))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(store.Delete(t.Context(), pat.AnyKind, 1, p.ID)))
	f.requireConsistent(t)
}

// TestUnprocessedKeys leaves the key of the owner unprocessed.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		assert.Equal(t, 3-c.N, strings.Count(c.Body, `"ConsistentRead":true`))
		if c.N == 1 {
			return c.Reply(http.StatusOK, `{"Responses":{"`+f.Tables["PersonalAccessTokens"]+`":[{"userId":{"N":"1"},"id":{"N":"7"}}]},`+
				`"UnprocessedKeys":{"`+f.Tables["Users"]+`":{"Keys":[{"id":{"N":"1"}}],"ConsistentRead":true}}}`)
		}
		return c.Pass()
	})
	p, owner, err := f.through(client).Get(t.Context(), 1, 7)
	assert.OK(t, err)
	assert.Equal(t, []int64{7, 1}, []int64{p.ID, owner.ID})
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	f.create(t, newPAT(1, "ci"))
	refusing := f.through(f.Refusing(t, transact))
	random := pat.NewStore(f.Client, f.Tables, nil, strings.NewReader("short"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, list := f.pats.List(ctx)
	_, query := f.pats.ListOf(ctx, 1)
	_, _, read := f.pats.Get(ctx, 1, 1)
	for want, err := range map[string]error{
		"list PATs: ": list, "list PATs of user 1: ": query, "get PAT 1 of user 1: ": read,
		"make a secret: ":        create(ctx, random, pat.AnyKind, newPAT(1, "new")),
		"take an id for a PAT: ": create(ctx, f.pats, pat.AnyKind, newPAT(1, "new")),
		"create a PAT: ":         create(t.Context(), refusing, pat.AnyKind, newPAT(1, "new")),
		"delete PAT 1: operation error DynamoDB: GetItem": f.pats.Delete(ctx, pat.AnyKind, 1, 1),
		"delete PAT 1: ": refusing.Delete(t.Context(), pat.AnyKind, 1, 1),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
