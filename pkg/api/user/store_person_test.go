package user_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

const lastAdmin = "ConflictError: The person is the last enabled Admin. Make another person Admin first."

// admin returns an Admin.
func admin(name string) user.User {
	return user.User{Kind: user.Person, Name: name, Email: name + "@example.com", Role: access.RoleAdmin}
}

// text returns the text for the client of an error, with its kind, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return apierror.From(err).Error()
}

func TestLastAdmin(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	ctx := t.Context()
	robot := serviceAccount("robot")
	robot.Role = access.RoleAdmin
	add(t, store, admin("ada"), admin("ben"), robot)
	assert.OK(t, store.SetDisabled(ctx, 2, true, false))
	for _, remove := range []func(force bool) error{
		func(force bool) error { return store.SetRole(ctx, 1, access.RoleEditor, force) },
		func(force bool) error { return store.SetDisabled(ctx, 1, true, force) },
		func(bool) error { return failure(store.BeginDeletion(ctx, user.Person, 1, store.KeepAdmin)) },
	} {
		assert.Equal(t, lastAdmin, text(remove(false)))
	}
	assert.OK(t, store.SetRole(ctx, 3, access.RoleViewer, false)) // a service account
	assert.OK(t, store.SetDisabled(ctx, 2, false, false))
	assert.OK(t, failure(store.BeginDeletion(ctx, user.Person, 1, store.KeepAdmin)))
	assert.Equal(t, lastAdmin, text(store.SetDisabled(ctx, 2, true, false)))
	assert.OK(t, store.SetDisabled(ctx, 2, true, true))
}

// TestLastTwoAdmins demotes the two Admins at the same time: the second call reads the first one's effect.
func TestLastTwoAdmins(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, admin("ada"), admin("ben"))
	other := through(db, db.Before(t, transact, 1, func() {
		assert.OK(t, store.SetRole(t.Context(), 1, access.RoleEditor, false))
	}))
	assert.Equal(t, lastAdmin, text(other.SetRole(t.Context(), 2, access.RoleEditor, false)))
}

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	add(t, store, person("ada", "ada@example.com"), person("ben", ""))
	change := func(id int64, email string) string {
		return describe(store.Update(t.Context(), user.Person, id, func(u *user.User) error {
			u.Email = email
			return nil
		}))
	}
	const exists = "change user 2: NameExistsError: There is already a person with this e-mail address."
	assert.Equal(t, exists, change(2, "ada@example.com"))
	assert.Equal(t, "1 ada <lovelace@example.com> Editor", change(1, "lovelace@example.com"))
	assert.Equal(t, "2 ben <ada@example.com> Editor", change(2, "ada@example.com"))
	requireItems(t, db, 6) // two accounts, two addresses, the counter of ids and the numbers
}

func TestUsernames(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	ada := person("Ada", "ada@example.com")
	ada.Username = "ada"
	add(t, store, ada)
	const exists = "NameExistsError: There is already an account with this username."
	assert.Equal(t, exists, describe(store.Add(t.Context(), serviceAccount("Ada"), user.DefaultLimit)))
	other := person("other", "other@example.com")
	other.Username = "ADA"
	assert.Equal(t, exists, describe(store.Add(t.Context(), other, user.DefaultLimit)))
	assert.OK(t, failure(store.BeginDeletion(t.Context(), user.Person, 1, nil)), store.EndDeletion(t.Context(), 1))
	add(t, store, other)
}

func TestMaxPeople(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	numbers := dynamo.Item{"id": dynamo.N(-1), "people": dynamo.N(user.MaxPeople - 1)}
	db.Put(t, db.Tables["Users"], numbers)
	add(t, store, person("last", "last@example.com"), serviceAccount("robot"))
	assert.Equal(t, "ValidationError: Failed to create user. You can't create more than the established limit of 2000. "+
		"Delete a user first.", describe(store.Add(t.Context(), person("ada", ""), user.DefaultLimit)))
	_, err := store.SignIn(t.Context(), signIn("s", "ada@example.com"))
	assert.Equal(t, "AuthenticationRequired: the maximum number of people (2000) is reached", text(err))
	assert.OK(t, failure(store.BeginDeletion(t.Context(), user.Person, 1, nil)), store.EndDeletion(t.Context(), 1))
	add(t, store, person("ada", ""))
	_, found, err := store.Check(t.Context())
	assert.OK(t, err)
	texts := ""
	for _, i := range found {
		texts = fmt.Sprintln(texts, i.Text)
		err = errors.Join(err, i.Repair(t.Context()))
	}
	assert.OK(t, err)
	if !strings.Contains(texts, "the number of people is 1, not 2000") {
		t.Error(texts)
	}
	assert.Equal(t, int64(1), db.Get(t, db.Tables["Users"], user.Key(-1)).Int("people"))
}
