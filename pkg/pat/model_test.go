package pat_test

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// TestMain sets how often rapid tries a property, unless the command line does.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	os.Exit(m.Run()) //nolint:forbidigo // TestMain ends with the status of the tests
}

// The accounts of one run of a property: each run creates new ones in the same tables.
const (
	accounts = 3
	aPerson  = 2 // the others are service accounts; the account after the last one does not exist
)

var descriptions = []string{"a", "b", "c", "d"}

// issued is a token that the model has created, even if it was deleted.
type issued struct {
	pat.PAT
	token   auth.Token
	deleted bool
}

// model is what the tokens of some accounts must be.
type model struct {
	*fixture
	now      time.Time
	base     int64 // the accounts' ids are base, base+1, ...
	last     *int64
	tokens   []*issued
	entries  [accounts]map[string]int64 // description key → id
	disabled [accounts]bool
}

// authenticate reports whether the authorizer accepts the token.
func (f *fixture) authenticate(t *rapid.T, now time.Time, token auth.Token) (auth.Principal, bool) {
	a := &authorizer.Authenticator{
		Store: authorizer.NewStore(f.Client, f.Tables), Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
	}
	p, err := a.Authenticate(t.Context(), token.Reveal())
	if errors.Is(err, dynamo.ErrUnavailable) {
		t.Fatal(err)
	}
	return p, err == nil
}

func (m *model) create(t *rapid.T) {
	at := rapid.IntRange(0, accounts).Draw(t, "account")
	description := rapid.SampledFrom(descriptions).Draw(t, "description")
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	kind := rapid.SampledFrom([]user.Kind{user.ServiceAccount, user.ServiceAccount, user.Person, pat.AnyKind}).Draw(t, "kind")
	created, token, err := m.pats.Create(t.Context(), pat.PAT{
		UserID: m.base + int64(at), Description: description, CreatedAt: m.now,
		ExpiresAt: m.now.Add(time.Duration(rapid.Int64Range(1, 300_000).Draw(t, "milliseconds")) * time.Millisecond),
	}, pat.Owner{Kind: kind, Limit: limit})
	*m.last++ // also if the creation is rejected
	var want error
	switch {
	case at == accounts || !isOf(kind, at):
		want = pat.ErrNoOwner
	case len(m.entries[at]) >= limit:
		want = pat.ErrTooMany
	case m.entries[at][pat.DescriptionKey(description)] != 0:
		want = pat.ErrDescriptionExists
	}
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if err == nil {
		if created.ID != *m.last {
			t.Fatalf("id %d, want %d", created.ID, *m.last)
		}
		m.tokens = append(m.tokens, &issued{PAT: created, token: token})
		m.entries[at][pat.DescriptionKey(description)] = created.ID
	}
}

// isOf reports whether an account is of a kind.
func isOf(kind user.Kind, at int) bool {
	return kind == pat.AnyKind || (at == aPerson) == (kind == user.Person)
}

func (m *model) draw(t *rapid.T) *issued {
	if len(m.tokens) == 0 {
		t.Skip("no token yet")
	}
	return rapid.SampledFrom(m.tokens).Draw(t, "PAT")
}

func (m *model) use(t *rapid.T) {
	s := m.draw(t)
	principal, ok := m.authenticate(t, m.now, s.token)
	valid := !s.deleted && m.now.Before(s.ExpiresAt) && !m.disabled[s.UserID-m.base]
	if ok != valid || ok && principal.UserID != s.UserID {
		t.Fatalf("PAT %d authenticates: %t, as user %d; want %t, %d", s.ID, ok, principal.UserID, valid, s.UserID)
	}
	if valid && (s.SeenAt == nil || s.SeenAt.Before(m.now.Add(-time.Minute))) {
		s.SeenAt = new(m.now)
	}
}

// forge uses the selector of one token with the secret of another one.
func (m *model) forge(t *rapid.T) {
	one, two := m.draw(t), m.draw(t)
	if one == two {
		t.Skip("the same token")
	}
	if _, ok := m.authenticate(t, m.now, one.token.At(two.token.Selector)); ok {
		t.Fatal("a forged token authenticates")
	}
}

func (m *model) remove(t *rapid.T) {
	s := m.draw(t)
	by := m.base + int64(rapid.IntRange(0, accounts).Draw(t, "by"))
	kind := rapid.SampledFrom([]user.Kind{pat.AnyKind, pat.AnyKind, user.ServiceAccount, user.Person}).Draw(t, "kind")
	err := m.pats.Delete(t.Context(), kind, by, s.ID)
	if by != s.UserID || s.deleted || !isOf(kind, int(by-m.base)) {
		if !errors.Is(err, pat.ErrNotFound) {
			t.Fatalf("PAT %d deleted by %d: %v", s.ID, by, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.deleted = true
	delete(m.entries[by-m.base], pat.DescriptionKey(s.Description))
}

func (m *model) disable(t *rapid.T) {
	at := rapid.IntRange(0, accounts-1).Draw(t, "account")
	m.disabled[at] = !m.disabled[at]
	if err := m.users.SetDisabled(t.Context(), m.base+int64(at), m.disabled[at]); err != nil {
		t.Fatal(err)
	}
}

func (m *model) wait(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.Int64Range(1, 120_000).Draw(t, "milliseconds")) * time.Millisecond)
}

// compare compares what is stored with the model.
func (m *model) compare(t *rapid.T) {
	for at := range m.entries {
		u, err := m.users.Get(t.Context(), m.base+int64(at))
		if diff := cmp.Diff(m.entries[at], u.PATs, cmpopts.EquateEmpty()); err != nil || diff != "" || u.Disabled != m.disabled[at] {
			t.Fatalf("user %d, disabled %t, %v: %s", u.ID, u.Disabled, err, diff)
		}
	}
	if len(m.tokens) == 0 {
		return
	}
	s := m.tokens[len(m.tokens)-1]
	item, err := dynamo.Get(t.Context(), m.Client, m.Tables.PersonalAccessTokens, pat.Key(s.UserID, s.ID))
	if err != nil || (item == nil) != s.deleted {
		t.Fatalf("PAT %d, deleted %t: %v, %v", s.ID, s.deleted, item, err)
	}
	if diff := cmp.Diff(s.PAT, pat.FromItem(item)); !s.deleted && diff != "" {
		t.Fatal(diff)
	}
}

// newAccounts creates the accounts of a run.
func (f *fixture) newAccounts(t *rapid.T, base int64) {
	for i := range int64(accounts) {
		kind := user.ServiceAccount
		if i == aPerson {
			kind = user.Person
		}
		if err := f.users.Create(t.Context(), user.User{ID: base + i, Kind: kind, Name: fmt.Sprint(i), Role: auth.RoleViewer}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLifeOfTokens compares creation, use, deletion, expiry and disabled owners with a model, one step at a time.
func TestLifeOfTokens(t *testing.T) {
	t.Parallel()
	f, last, base := newFixture(t), int64(0), int64(1)
	rapid.Check(t, func(t *rapid.T) {
		m := &model{fixture: f, now: now(), base: base, last: &last}
		base += accounts + 1
		f.newAccounts(t, m.base)
		for i := range m.entries {
			m.entries[i] = map[string]int64{}
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": m.create, "create again": m.create, "use": m.use, "forge": m.forge, "delete": m.remove,
			"disable": m.disable, "wait": m.wait, "": m.compare,
		})
	})
}
