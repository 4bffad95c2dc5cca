package operator_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/seed"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

func third[T, U any](_ T, _ U, err error) error { return err }

// newOperator returns an operator of the tables. Its clock stands still.
func newOperator(db *database.Database, i installation.Installation) *operator.Operator {
	i.Tables = db.Tables
	if i.Client == nil {
		i.Client = db.Client
	}
	return operator.New(&i, now, rand.Reader)
}

// statuses returns a line for each error: its exit status and its message.
func statuses(errs ...error) (lines string) {
	for _, err := range errs {
		lines += fmt.Sprintf("%d %v\n", exitstatus.Of(err), err)
	}
	return lines
}

// TestRejected checks the errors of invalid commands, which write nothing.
func TestRejected(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	_, err := seed.Seed(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Log: db.Log(), Now: now,
		Random: rand.Reader})
	assert.OK(t, err)
	o := newOperator(db, installation.Installation{Name: `the stack "s"`, Option: "--stack s", TokenLimit: 2,
		AccountLimit: user.DefaultLimit, Stack: installation.Stack{Name: "s"}})
	later := now().Add(time.Hour)
	create := func(owner int64, name string, expires time.Time) error {
		return third(o.CreateToken(t.Context(), owner, name, &expires))
	}
	const serviceAccount = 4
	assert.OK(t, create(serviceAccount, "build", later), create(serviceAccount, "release", later))
	put := func(name string, change operator.ToggleChange) error {
		_, _, _, err := o.PutToggle(t.Context(), name, change)
		return err
	}
	add := func(kind user.Kind, name, email string) error {
		_, err := o.AddAccount(t.Context(), kind, name, email, access.RoleViewer)
		return err
	}
	clientToken := func(project string) error {
		return third(o.CreateClientToken(t.Context(), operator.ClientTokenRequest{
			Name: "x", Type: clienttokentable.Backend, Environment: "production", Projects: []string{project},
		}))
	}
	identity := func(issuer, subject string) error {
		_, err := o.Identity(issuer, subject)
		return err
	}
	stored := func() (n int) {
		for _, table := range db.Tables {
			n += len(db.Scan(t, table))
		}
		return n
	}
	before := stored()
	assert.Equal(t, `2 "a b" is not a valid name of a toggle: use 1 to 100 letters, digits and . _ ~ -, but not ., .. or revive
2 "" is not a valid project: use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone
3 there is no project with the id "none"
3 there is no project with the id "none"
3 there is no project with the id "none"
3 there is no feature type "none": there are release, experiment, operational, kill-switch, permission
3 there is no context field "none": there are environment, userId, appName, currentTime, sessionId
2 a toggle uses at most 40 context fields, not 50
4 there is already a person with this e-mail address
4 there is already an account with this username
2 "X <x@example.com>" is not an e-mail address: use one such as ada@example.com
2 the name contains characters that cannot be printed
2 the stack "s" has no OpenID Connect issuer: use --issuer
2 "http://127.0.0.1:1" is not an issuer: it must begin with https://
2 "https://issuer.example.com?" is not an issuer: it must have at most 255 characters, and neither query, fragment nor space
2 the subject has 256 characters, the maximum is 255
3 there is no user with the id 99
3 there is no user with the id 99
2 the token would already be expired: 2026-11-21T10:00:00.000Z is in the past
3 there is no user or service account with the id 99
4 the account already has a token with this description
4 the account has reached the maximum number of tokens (2), and none of them has expired: delete one first
3 the token "7" belongs to the account 99, which does not exist: toggleadmin doctor --stack s --fix deletes it
`, statuses(
		put("a b", operator.ToggleChange{}),
		put("x", operator.ToggleChange{Project: new("")}),
		put("x", operator.ToggleChange{Project: new("none")}),
		put("old-banner", operator.ToggleChange{Project: new("none")}),
		clientToken("none"),
		put("x", operator.ToggleChange{Type: new("none")}),
		put("x", operator.ToggleChange{ContextFields: &[]string{"none"}}),
		put("x", operator.ToggleChange{ContextFields: new(make([]string, 50))}),
		add(user.Person, "x", "ADMIN@example.com"),
		add(user.ServiceAccount, "CI", ""),
		add(user.Person, "x", "X <x@example.com>"),
		add(user.ServiceAccount, "a\x1bb", ""),
		identity("", "s"),
		identity("http://127.0.0.1:1", "s"),
		identity("https://issuer.example.com?", "s"),
		identity("https://issuer.example.com", strings.Repeat("s", 256)),
		third(o.SetRole(t.Context(), user.Person, 99, access.RoleAdmin, true)),
		third(o.Link(t.Context(), 99, user.Identity{})),
		create(0, "x", now()),
		create(99, "x", later),
		create(1, "seed", later),
		create(serviceAccount, "other", later),
		o.Revoke(t.Context(), tokenlist.Token{ID: "7", UserID: new(int64(99))}),
	))
	assert.Equal(t, before, stored())
}

// TestLimits checks that the limits of service accounts and toggles apply, and MaxTokenDays to both kinds of token: an
// API token must expire then.
func TestLimits(t *testing.T) {
	t.Parallel()
	o := newOperator(database.New(t), installation.Installation{Name: "the stack", TokenLimit: 10, AccountLimit: 1,
		FeatureLimit: 1, MaxTokenDays: 30})
	for range 2 { // the second call changes nothing
		_, _, _, err := o.PutToggle(t.Context(), "first", operator.ToggleChange{})
		assert.OK(t, err)
	}
	_, _, _, err := o.PutToggle(t.Context(), "second", operator.ToggleChange{})
	assert.Equal(t, "4 the maximum number of toggles (1), including archived ones, is reached: delete one first\n", statuses(err))
	account, err := o.AddAccount(t.Context(), user.ServiceAccount, "ci", "", access.RoleViewer)
	assert.OK(t, err)
	_, err = o.AddAccount(t.Context(), user.ServiceAccount, "cd", "", access.RoleViewer)
	assert.Equal(t, "4 the maximum number of service accounts (1) is reached: delete one first\n", statuses(err))
	latest := now().AddDate(0, 0, 30)
	stored, later := latest.Add(time.Millisecond-1), latest.Add(time.Millisecond)
	for _, owner := range []int64{0, account.ID} {
		created, _, err := o.CreateToken(t.Context(), owner, "n", &stored)
		assert.OK(t, err)
		assert.Equal(t, "2026-11-21T10:00:00.000Z to 2026-12-21T10:00:00.000Z", created.CreatedAt+" to "+*created.ExpiresAt)
		for _, expires := range []*time.Time{&later, nil} {
			assert.Equal(t, "2 a token of the stack must expire within 30 days (MaxTokenDays): use a shorter --expires-in or an "+
				"earlier --expires-at\n",
				statuses(third(o.CreateToken(t.Context(), owner, "n", expires))))
		}
	}
}

// TestWarnings checks what an operator learns before an account is disabled or deleted. A script of cmd/toggleadmin
// tests the warning for the last Admin.
func TestWarnings(t *testing.T) {
	t.Parallel()
	person := operator.Account{ID: 7, Kind: user.Person, Name: "Ada", Role: access.RoleViewer}
	linked, machine := person, person
	linked.Identity, machine.Kind = &user.Identity{}, user.ServiceAccount
	got := ""
	for _, issuer := range []string{"https://issuer.example.com", ""} { // nobody can sign in without an issuer
		o := operator.New(&installation.Installation{Issuer: issuer}, now, rand.Reader)
		for _, account := range []operator.Account{person, linked, machine} {
			disable, err := o.DisableWarnings(t.Context(), account, false)
			remove, removeErr := o.DeleteWarnings(t.Context(), account, false)
			assert.OK(t, err, removeErr)
			got += fmt.Sprintf("disable: %s\ndelete: %s\n", disable, remove)
		}
	}
	const remove = "delete: [If unknown people may sign in (OidcDefaultRole), the next sign-in of Ada adds a new account. " +
		"To keep Ada out, use `toggleadmin users disable 7` instead.]\n"
	assert.Equal(t, "disable: [Ada (7) is not linked to an identity. If unknown people may sign in (OidcDefaultRole), "+
		"ID tokens without the e-mail address of Ada add a new account: link Ada first, with "+
		"`toggleadmin users link 7 --subject SUB`.]\n"+remove+"disable: []\n"+remove+
		strings.Repeat("disable: []\ndelete: []\n", 4), got)
}

// TestFieldDeletedDuringCommand checks the error of a command that uses a context field that is deleted after it was
// read.
func TestFieldDeletedDuringCommand(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	fields := contextfield.NewStore(db.Client, db.Tables, db.Log())
	_, err := fields.Create(t.Context(), contextfield.ContextField{Name: "plan"})
	assert.OK(t, err)
	o := newOperator(db, installation.Installation{Client: db.Before(t, "TransactWriteItems", 1, func() {
		assert.OK(t, fields.Delete(t.Context(), "plan"))
	})})
	_, _, _, err = o.PutToggle(t.Context(), "t", operator.ToggleChange{ContextFields: &[]string{"plan"}})
	assert.Equal(t, "4 the toggle uses the context field \"plan\", which does not exist: create the field first\n",
		statuses(err))
}

// TestDeletedDuringCommand checks the exit status of commands on an account that is deleted after it was read.
func TestDeletedDuringCommand(t *testing.T) {
	t.Parallel()
	identity := user.Identity{Issuer: "https://issuer.example.com", Subject: "ada"}
	for name, run := range map[string]func(*operator.Operator, int64) error{
		"disable": func(o *operator.Operator, id int64) error {
			return third(o.SetDisabled(t.Context(), user.Person, id, true, true))
		},
		"role": func(o *operator.Operator, id int64) error {
			return third(o.SetRole(t.Context(), user.Person, id, access.RoleAdmin, true))
		},
		"link": func(o *operator.Operator, id int64) error {
			return third(o.Link(t.Context(), id, user.Identity{Issuer: identity.Issuer, Subject: "eve"}))
		},
		"unlink": func(o *operator.Operator, id int64) error { return third(o.Unlink(t.Context(), id)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database.New(t)
			before := newOperator(db, installation.Installation{})
			account, err := before.AddAccount(t.Context(), user.Person, "Ada", "ada@example.com", access.RoleViewer)
			assert.OK(t, err, third(before.Link(t.Context(), account.ID, identity)))
			o := newOperator(db, installation.Installation{Client: db.Before(t, "TransactWriteItems", 1, func() {
				assert.OK(t, before.DeleteAccount(t.Context(), user.Person, account.ID, true))
			})})
			if err := run(o, account.ID); exitstatus.Of(err) != exitstatus.NotFound {
				t.Errorf("status %d: %v", exitstatus.Of(err), err)
			}
		})
	}
}
