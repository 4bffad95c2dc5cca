package user_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
)

// TestEvents checks what each write of accounts records. What changes nothing is done twice, and recorded once.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator ada"})
	account := service("ci")
	account.CreatedAt = new(signInTime())
	_, first := store.Add(ctx, person("Ada", "ada@example.com"))
	_, second := store.Add(ctx, account)
	errs := []error{first, second}
	for range 2 {
		_, role := store.Update(ctx, 2, user.Change{Name: "Pipeline", Role: access.RoleViewer})
		_, link := store.Link(ctx, 1, identity("s"))
		_, unlink := store.Unlink(ctx, 2) // a service account
		if errors.Is(unlink, user.ErrNotFound) {
			unlink = nil
		}
		errs = append(errs, role, link, unlink)
	}
	for range 2 {
		_, unlink := store.Unlink(ctx, 1)
		errs = append(errs, unlink, store.SetRole(ctx, 1, access.RoleAdmin), store.SetDisabled(ctx, 2, true))
	}
	for range 2 {
		errs = append(errs, store.BeginDeletion(ctx, user.ServiceAccount, 2))
	}
	for range 2 {
		errs = append(errs, store.EndDeletion(ctx, 2))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	const (
		ada = `{"id":1,"name":"Ada","email":"ada@example.com","rootRole":{"id":3,"name":"Viewer"},"disabled":false,` +
			`"identity":null,"createdAt":null}`
		admin = `{"id":1,"name":"Ada","email":"ada@example.com","rootRole":{"id":1,"name":"Admin"},"disabled":false,` +
			`"identity":null,"createdAt":null}`
		linked = `{"id":1,"name":"Ada","email":"ada@example.com","rootRole":{"id":3,"name":"Viewer"},"disabled":false,` +
			`"identity":` + sub + `,"createdAt":null}`
		created  = `,"createdAt":"2026-11-22T08:00:00.001Z"}`
		ci       = `{"id":2,"name":"ci","username":"ci","rootRole":{"id":2,"name":"Editor"},"disabled":false` + created
		pipeline = `{"id":2,"name":"Pipeline","username":"ci","rootRole":{"id":3,"name":"Viewer"},"disabled":false` + created
		disabled = `{"id":2,"name":"Pipeline","username":"ci","rootRole":{"id":3,"name":"Viewer"},"disabled":true` + created
	)
	want := []string{
		"user-created user:1 by operator ada: " + ada,
		"service-account-created account:2 by operator ada: " + ci,
		"service-account-updated account:2 by operator ada: " + pipeline + " before " + ci,
		"user-updated user:1 by operator ada: " + linked + " before " + ada,
		"user-updated user:1 by operator ada: " + ada + " before " + linked,
		"user-updated user:1 by operator ada: " + admin + " before " + ada,
		"service-account-updated account:2 by operator ada: " + disabled + " before " + pipeline,
		"service-account-deleted account:2 by operator ada: before " + disabled,
	}
	if diff := cmp.Diff(want, db.Events(t)); diff != "" {
		t.Error(diff)
	}
}

// sub is the identity of the subject s in events: printf s | sha256sum.
const sub = `{"issuer":"https://issuer.example.com",` +
	`"subjectSha256":"043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"}`

// TestSignInEvents checks that a person links or creates themselves at the first sign-in, once, and that the repair of
// a link is no change.
func TestSignInEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("Ada", "ada@example.com"), 1)
	for range 2 {
		signedIn(t, store, signIn("s", "ada@example.com"), 1)
		signedIn(t, store, signIn("new", "new@example.com"), 2)
		for _, item := range db.Scan(t, db.Tables.Identifiers) { // the table is restored from before
			if key := item.String("id"); key == "identity:https://issuer.example.com s" {
				db.Delete(t, db.Tables.Identifiers, user.IdentifierKey(key))
			}
		}
		store = user.NewStore(db.Client, db.Tables, db.Log())
	}
	events := db.Events(t)
	const (
		ada   = `{"id":1,"name":"Ada","email":"ada@example.com","rootRole":{"id":3,"name":"Viewer"},"disabled":false,`
		added = `{"id":2,"name":"new@example.com","email":"new@example.com","rootRole":{"id":3,"name":"Viewer"},` +
			`"disabled":false,"identity":` +
			`{"issuer":"https://issuer.example.com","subjectSha256":"11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"},` +
			`"createdAt":"2026-11-22T08:00:00.001Z"}`
	)
	want := []string{
		"user-updated user:1 by Ada, user 1: " + ada + `"identity":` + sub + `,"createdAt":null} before ` + ada +
			`"identity":null,"createdAt":null}`,
		"user-created user:2 by new@example.com, user 2: " + added,
	}
	if diff := cmp.Diff(want, events[1:]); diff != "" {
		t.Error(diff)
	}
}
