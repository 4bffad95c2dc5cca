package serviceaccount_test

import (
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// items returns the items of the three tables without the counters of ids.
func (f *fixture) items(tb testing.TB) (all []dynamo.Item) {
	tb.Helper()
	for _, table := range []string{f.Tables.Users, f.Tables.Identifiers, f.Tables.PersonalAccessTokens} {
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
	f.Run(t.Context(), t, `
		delete | 3 | | 200
		delete | 3 | | 404 NotFoundError: There is no service account with the id "3".
		# a person
		delete | 1 | | 404 …
		delete | 0 | | 404 …
		delete | x | | 404 …
		delete | 2.5 | | 404 …
		delete | 99 | | 404 …
	`)
	assert.Equal(t, before, f.items(t), database.Items())
}

// TestPreconditions checks that a service account has no entity tag.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "kept", 1)
	before := f.items(t)
	for name, value := range map[string]string{"If-Match": `"old"`, "If-None-Match": "*"} {
		f.With(name, value).Run(t.Context(), t, `
			update delete | 2 | {"name":"new"} | 412 PreconditionFailed: …
			update delete | 1 | {"name":"new"} | 404 …
			update delete | 3 | {"name":"new"} | 404 …
		`)
	}
	assert.Equal(t, before, f.items(t), database.Items())
	f.With("If-Match", "*").Run(t.Context(), t, `
		update | 2 | {"name":"new"} | 200 {…
		delete | 2 | | 200
	`)
}

// TestDeleteWithoutReservation deletes an account whose username another account has reserved, because one table was
// restored.
func TestDeleteWithoutReservation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "ci", 0)
	f.account(t, "other", 0)
	other := f.Get(t, f.Tables.Users, dynamo.Item{"id": dynamo.N(3)})
	other["username"] = dynamo.S("CI")
	f.Put(t, f.Tables.Users, other)
	f.Run(t.Context(), t, `
		delete | 3 | | 200
		create | | {"username":"ci","name":"n","rootRole":2} | 409 …
	`)
}
