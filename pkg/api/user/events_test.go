package user_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// requireEvents compares the events in the log. ADA, NEW, CI and PIPELINE stand for the members of accounts.
func requireEvents(t *testing.T, db *database.Database, want string) {
	t.Helper()
	assert.Equal(t, strings.NewReplacer(
		"ADA", `"id":1,"rootRole":{"id":2,"name":"Editor"},"disabled":false`,
		"ADMIN", `"id":1,"rootRole":{"id":1,"name":"Admin"},"disabled":false`,
		"NEW", `"id":2,"rootRole":{"id":3,"name":"Viewer"},"disabled":false`,
		"CI", `"id":2,"name":"ci","username":"ci","rootRole":{"id":2,"name":"Editor"}`,
		"PIPELINE", `"id":2,"name":"Pipeline","username":"ci","rootRole":{"id":3,"name":"Viewer"}`,
		"NEVER", `"createdAt":null`, "TIME", `"createdAt":"2026-11-22T08:00:00.001Z"`,
		"NOBODY", `"identity":null,"createdAt":null`,
		// printf s | sha256sum
		"LINKED", `"identity":{"issuer":"https://issuer.example.com",`+
			`"subjectSha256":"043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"}`,
	).Replace(want), strings.Join(db.Events(t), "\n"))
}

// TestEvents checks what each write of accounts records. Each is done twice. What changes nothing is recorded once. At
// the end another service account can have the name and the place of the deleted one.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), serviceAccount("ci"))
	const limit = 1
	assert.Equal(t, "NoAccessError: The maximum number of service accounts (1) is reached. Delete one first.",
		describe(store.Add(t.Context(), serviceAccount("other"), limit)))
	ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator"})
	for _, write := range []func() error{
		func() error {
			return failure(store.Update(ctx, user.ServiceAccount, 2, func(u *user.User) error {
				u.Name, u.Role = "Pipeline", access.RoleViewer
				return nil
			}))
		},
		func() error { return failure(store.Link(ctx, 1, identity("s"))) },
		func() error { return failure(store.Unlink(ctx, 1)) },
		func() error {
			return failure(store.Update(ctx, user.Person, 1, func(u *user.User) error {
				u.Name, u.Email = "Countess", "countess@example.com"
				return nil
			}))
		},
		func() error { return store.SetRole(ctx, 1, access.RoleAdmin, false) },
		func() error { return store.SetDisabled(ctx, 2, true, false) },
		func() error { return failure(store.BeginDeletion(ctx, user.ServiceAccount, 2, nil)) },
		func() error { return store.EndDeletion(ctx, 2) },
	} {
		assert.OK(t, write(), write())
	}
	requireEvents(t, db, `user-created user:1 by system: {ADA,NOBODY}
service-account-created account:2 by system: {CI,"disabled":false,NEVER}
service-account-updated account:2 by operator: {PIPELINE,"disabled":false,NEVER} before {CI,"disabled":false,NEVER}
user-updated user:1 by operator: {ADA,LINKED,NEVER} before {ADA,NOBODY}
user-updated user:1 by operator: {ADA,NOBODY} before {ADA,LINKED,NEVER}
user-updated user:1 by operator: {ADA,NOBODY,"changed":["email","name"]} before {ADA,NOBODY}
user-updated user:1 by operator: {ADMIN,NOBODY} before {ADA,NOBODY}
service-account-updated account:2 by operator: {PIPELINE,"disabled":true,NEVER} before {PIPELINE,"disabled":false,NEVER}
service-account-deleted account:2 by operator: before {PIPELINE,"disabled":true,NEVER}`)
	assert.Equal(t, "4 ci <> Editor", describe(store.Add(t.Context(), serviceAccount("ci"), limit)))
}

// TestSignInEvents checks that a person links or creates themselves at the first sign-in, once, and that the repair of
// a link is no change.
func TestSignInEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"))
	for range 2 {
		assert.Equal(t, "1 ada <ada@example.com> Editor, identity s",
			describe(store.SignIn(t.Context(), signIn("s", "ada@example.com"))))
		assert.Equal(t, "2 new@example.com <new@example.com> Viewer, identity new",
			describe(store.SignIn(t.Context(), signIn("new", "new@example.com"))))
		// the table is restored from before
		db.Delete(t, db.Tables["Identifiers"], user.IdentifierKey("identity:"+issuer+" s"))
		store = through(db, db.Client)
	}
	requireEvents(t, db, `user-created user:1 by system: {ADA,NOBODY}
user-updated user:1 by user 1: {ADA,LINKED,NEVER} before {ADA,NOBODY}
user-created user:2 by user 2: {NEW,"identity":{"issuer":"https://issuer.example.com","subjectSha256":"11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"},TIME}`)
}
