package serviceaccount_test

import (
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// items returns the items of the three tables without the counters of ids.
func (f *fixture) items(tb testing.TB) (all []dynamo.Item) {
	tb.Helper()
	for _, table := range []string{f.Tables["Users"], f.Tables["Identifiers"], f.Tables["PersonalAccessTokens"]} {
		for _, item := range f.Scan(tb, table) {
			if item["lastAccountId"] == nil && item["lastId"] == nil {
				all = append(all, item)
			}
		}
	}
	return all
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "kept", 1)
	before := f.items(t)
	f.account(t, "deleted", 2)
	f.expect(t, []call{
		{"delete", "3", "", "200"},
		{"delete", "3", "", noAccount("3")},
		{"delete", "1", "", noAccount("1")}, // a person
		{"delete", "0", "", noAccount("0")},
		{"delete", "x", "", noAccount("x")},
		{"delete", "2.5", "", noAccount("2.5")},
		{"delete", "99", "", noAccount("99")},
	})
	assert.Equal(t, before, f.items(t), database.Items())
}

// TestPreconditions checks that a service account has no entity tag.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "kept", 1)
	before := f.items(t)
	for _, test := range []struct{ header, value, want string }{
		{"If-Match", `"old"`, noEntityTag},
		{"If-None-Match", "*", matchesIfNoneMatch},
	} {
		set := f.With(test.header, test.value)
		for _, operation := range []string{"update", "delete"} {
			set.Expect(t.Context(), t, operation, "2", `{"name":"new"}`, test.want)
			set.Expect(t.Context(), t, operation, "1", `{"name":"new"}`, noAccount("1"))
			set.Expect(t.Context(), t, operation, "3", `{"name":"new"}`, noAccount("3"))
		}
	}
	assert.Equal(t, before, f.items(t), database.Items())
	matching := f.With("If-Match", "*")
	matching.ExpectStatus(t.Context(), t, "update", "2", `{"name":"new"}`, 200)
	matching.Expect(t.Context(), t, "delete", "2", "", "200")
}

// TestDeleteWithoutReservation deletes an account whose username another account has reserved, because a restore has
// not ended.
func TestDeleteWithoutReservation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "ci", 0)
	f.account(t, "other", 0)
	other := f.Get(t, f.Tables["Users"], dynamo.Item{"id": dynamo.N(3)})
	other["username"] = dynamo.S("CI")
	f.Put(t, f.Tables["Users"], other)
	f.expect(t, []call{
		{"delete", "3", "", "200"},
		{"create", "", `{"username":"ci","name":"n","rootRole":2}`, usernameExists},
	})
}
