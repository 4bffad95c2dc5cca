package operator_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

func third[T, U any](_ T, _ U, err error) error { return err }

// TestRejected checks the errors of invalid commands, which write nothing.
func TestRejected(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	if _, err := seed.Seed(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Now: now,
		Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	o := operator.New(&installation.Installation{
		Client: db.Client, Tables: db.Tables, TokenLimit: 2, AccountLimit: user.DefaultLimit,
		Stack: installation.Stack{Name: "s"},
	}, now, rand.Reader)
	later, past := now().Add(time.Hour), now()
	const serviceAccount = 4
	for _, name := range []string{"build", "release"} {
		if _, _, err := o.CreateToken(t.Context(), serviceAccount, name, &later); err != nil {
			t.Fatal(err)
		}
	}
	stored := func() (n int) {
		for _, table := range db.Tables.ByID() {
			n += len(db.Scan(t, table))
		}
		return n
	}
	put := func(name string, change operator.ToggleChange) error {
		_, _, _, err := o.PutToggle(t.Context(), name, change)
		return err
	}
	add := func(kind user.Kind, name, email string) error {
		_, err := o.AddAccount(t.Context(), kind, name, email, "Viewer")
		return err
	}
	create := func(owner int64, name string, expires *time.Time) error {
		return third(o.CreateToken(t.Context(), owner, name, expires))
	}
	identity := func(issuer, subject string) error {
		_, err := o.Identity(issuer, subject)
		return err
	}
	before := stored()
	for _, tt := range []struct {
		err  error
		want exitstatus.Status
		text string
	}{
		{put("a b", operator.ToggleChange{}), exitstatus.Usage, `"a b" is not a valid name`},
		{put("x", operator.ToggleChange{Project: new("")}), exitstatus.Usage, `"" is not a valid project`},
		{put("x", operator.ToggleChange{Type: new("none")}), exitstatus.NotFound,
			"there are release, experiment, operational"},
		{put("x", operator.ToggleChange{ContextFields: &[]string{"none"}}), exitstatus.NotFound,
			"there are environment, userId"},
		{put("x", operator.ToggleChange{ContextFields: new(make([]string, 50))}), exitstatus.Usage,
			"at most 47 context fields, not 50"},
		{add(user.Person, "x", "ADMIN@example.com"), exitstatus.Rejected, "admin@example.com already exists"},
		{add(user.ServiceAccount, "CI", ""), exitstatus.Rejected, `"CI" already exists`},
		{add(user.Person, "x", "X <x@example.com>"), exitstatus.Usage, "is not an e-mail address"},
		{add(user.ServiceAccount, "a\x1bb", ""), exitstatus.Usage, "cannot be printed"},
		{identity("", "s"), exitstatus.Usage, "has no OpenID Connect issuer: use --issuer"},
		{identity("http://127.0.0.1:1", "s"), exitstatus.Usage, "is not an issuer: it must begin with https://"},
		{identity("https://issuer.example.com?", "s"), exitstatus.Usage,
			"is not an issuer: it must have at most 255 characters, and neither query"},
		{identity("https://issuer.example.com", strings.Repeat("s", 256)), exitstatus.Usage,
			"the subject has 256 characters"},
		{third(o.SetRole(t.Context(), user.Person, 99, "Admin")), exitstatus.NotFound, "no user with the id 99"},
		{third(o.Link(t.Context(), 99, operator.Identity{})), exitstatus.NotFound, "no user with the id 99"},
		{create(0, "x", &past), exitstatus.Usage, "2026-11-21T10:00:00.000Z is in the past"},
		{create(99, "x", &later), exitstatus.NotFound, "no user or service account with the id 99"},
		{create(1, "seed", &later), exitstatus.Rejected, `already has a token "seed"`},
		{create(serviceAccount, "other", &later), exitstatus.Rejected, "has the maximum of 2 tokens"},
	} {
		if exitstatus.Of(tt.err) != tt.want || !strings.Contains(tt.err.Error(), tt.text) {
			t.Errorf("status %d, want %d: %v, want %q", exitstatus.Of(tt.err), tt.want, tt.err, tt.text)
		}
	}
	if after := stored(); after != before {
		t.Errorf("%d items, %d before", after, before)
	}
}

// TestLimits checks that the limit of service accounts applies, and MaxTokenDays to both kinds of token: an API token
// must expire then.
func TestLimits(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	o := operator.New(&installation.Installation{
		Name: "the stack", Client: db.Client, Tables: db.Tables, TokenLimit: 10, AccountLimit: 1, MaxTokenDays: 30,
	}, func() time.Time { return now }, rand.Reader)
	account, err := o.AddAccount(t.Context(), user.ServiceAccount, "ci", "", "Viewer")
	assert.OK(t, err)
	const want = "the maximum number of service accounts (1) is reached: delete one first"
	if _, err := o.AddAccount(t.Context(), user.ServiceAccount, "cd", "",
		"Viewer"); exitstatus.Of(err) != exitstatus.Rejected || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	latest, later := now.AddDate(0, 0, 30), now.AddDate(0, 0, 30).Add(1)
	for _, owner := range []int64{0, account.ID} {
		created, _, err := o.CreateToken(t.Context(), owner, "n", &latest)
		if err != nil || created.CreatedAt != "2026-11-20T00:00:00.000Z" || *created.ExpiresAt != "2026-12-20T00:00:00.000Z" {
			t.Error(created, err)
		}
		for _, expires := range []*time.Time{&later, nil} {
			const want = "a token of the stack must expire within 30 days (MaxTokenDays)"
			if _, _, err := o.CreateToken(t.Context(), owner, "n", expires); err == nil || !strings.Contains(err.Error(), want) {
				t.Error(owner, expires, err)
			}
		}
	}
}

// TestDeleteWarnings checks that an operator learns that a deleted person can sign in again.
func TestDeleteWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   user.Kind
		issuer string
		want   int
	}{{user.Person, "https://issuer.example.com", 1}, {user.Person, "", 0},
		{user.ServiceAccount, "https://issuer.example.com", 0}} {
		o := operator.New(&installation.Installation{Issuer: tt.issuer}, now, rand.Reader)
		got, err := o.DeleteWarnings(t.Context(), operator.Account{ID: 7, Kind: tt.kind, Name: "Ada", Role: "Viewer"})
		if err != nil || len(got) != tt.want || tt.want > 0 &&
			!strings.Contains(got[0], "the next sign-in of Ada adds a new account. "+
				"To keep Ada out, use `toggleadmin users disable 7` instead.") {
			t.Errorf("%s at %q: %q, %v", tt.kind, tt.issuer, got, err)
		}
	}
}

// TestDeletedDuringCommand checks the exit status of commands on an account or a context field that is deleted after it
// was read.
func TestDeletedDuringCommand(t *testing.T) {
	t.Parallel()
	identity := func(subject string) operator.Identity {
		return operator.Identity{Issuer: "https://issuer.example.com", Subject: subject}
	}
	for name, run := range map[string]func(*operator.Operator, int64) error{
		"disable": func(o *operator.Operator, id int64) error {
			return third(o.SetDisabled(t.Context(), user.Person, id, true))
		},
		"role": func(o *operator.Operator, id int64) error {
			return third(o.SetRole(t.Context(), user.Person, id, "Admin"))
		},
		"link":   func(o *operator.Operator, id int64) error { return third(o.Link(t.Context(), id, identity("eve"))) },
		"unlink": func(o *operator.Operator, id int64) error { return third(o.Unlink(t.Context(), id)) },
		"put": func(o *operator.Operator, _ int64) error {
			_, _, _, err := o.PutToggle(t.Context(), "t", operator.ToggleChange{ContextFields: &[]string{"plan"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database.New(t)
			fields := contextfield.NewStore(db.Client, db.Tables, db.Log())
			assert.OK(t, fields.Create(t.Context(), contextfield.ContextField{Name: "plan"}))
			before := operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables}, now, rand.Reader)
			account, err := before.AddAccount(t.Context(), user.Person, "Ada", "ada@example.com", "Viewer")
			if err == nil {
				_, _, err = before.Link(t.Context(), account.ID, identity("ada"))
			}
			assert.OK(t, err)
			client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "TransactWriteItems" && c.N == 1 {
					if err := errors.Join(before.DeleteAccount(t.Context(), user.Person, account.ID),
						fields.Delete(t.Context(), "plan")); err != nil {
						t.Error(err)
					}
				}
				return c.Pass()
			})
			o := operator.New(&installation.Installation{Client: client, Tables: db.Tables}, now, rand.Reader)
			if err := run(o, account.ID); exitstatus.Of(err) != exitstatus.NotFound {
				t.Errorf("status %d: %v", exitstatus.Of(err), err)
			}
		})
	}
}
