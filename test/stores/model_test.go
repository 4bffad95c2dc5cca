package stores_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// The accounts of one run of a property: a run begins with new ones, on the same tables.
const (
	accounts = 3
	aPerson  = 2 // the others are service accounts; the account after the last does not exist
)

func descriptions() []string { return []string{"a", "b", "c", "d"} }

// secretOf is a PAT as the model remembers it, also after its end.
type secretOf struct {
	pat.PAT
	token   auth.Token
	deleted bool
}

// life is the model of some accounts' PATs beside the real thing.
type life struct {
	g        *ground
	now      time.Time
	base     int64 // accounts are base+0, base+1, …
	last     *int64
	tokens   []*secretOf
	held     [accounts]map[string]int64 // description key → id
	disabled [accounts]bool
}

func (l *life) authenticate(t *rapid.T, token auth.Token) (auth.Principal, bool, error) {
	a := &authorizer.Authenticator{Tokens: l.g.Tokens, Now: func() time.Time { return l.now }, Logger: slog.New(slog.DiscardHandler)}
	return authenticated(a.Authenticate(t.Context(), token.Reveal()))
}

// authenticated tells a refusal from a fault.
func authenticated(p auth.Principal, err error) (auth.Principal, bool, error) {
	if fault, ok := errors.AsType[*apierror.Error](err); ok {
		return p, false, fault
	}
	return p, err == nil, nil
}

func (l *life) create(t *rapid.T) {
	at := rapid.IntRange(0, accounts).Draw(t, "account")
	description := rapid.SampledFrom(descriptions()).Draw(t, "description")
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	p := pat.PAT{
		UserID: l.base + int64(at), Description: description, CreatedAt: l.now,
		ExpiresAt: l.now.Add(time.Duration(rapid.Int64Range(1, 300_000).Draw(t, "milliseconds")) * time.Millisecond),
	}
	made, token, err := l.g.PATs.Create(t.Context(), p, owner(limit))
	want := error(nil)
	switch {
	case at == accounts || at == aPerson:
		want = pat.ErrNoOwner
	case len(l.held[at]) >= limit:
		want = pat.ErrTooMany
	case l.held[at][pat.DescriptionKey(description)] != 0:
		want = pat.ErrDescriptionExists
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Fatalf("error %v, want %v", err, want)
	}
	if err == nil {
		if *l.last++; made.ID != *l.last {
			t.Fatalf("id %d, want %d", made.ID, *l.last)
		}
		l.tokens = append(l.tokens, &secretOf{PAT: made, token: token})
		l.held[at][pat.DescriptionKey(description)] = made.ID
	}
}

func (l *life) draw(t *rapid.T) *secretOf {
	if len(l.tokens) == 0 {
		t.Skip("no PAT yet")
	}
	return rapid.SampledFrom(l.tokens).Draw(t, "PAT")
}

func (l *life) use(t *rapid.T) {
	s := l.draw(t)
	principal, ok, err := l.authenticate(t, s.token)
	if err != nil {
		t.Fatal(err)
	}
	valid := !s.deleted && l.now.Before(s.ExpiresAt) && !l.disabled[s.UserID-l.base]
	if ok != valid || ok && principal.UserID != s.UserID {
		t.Fatalf("PAT %d authenticates: %t, as user %d; want %t, %d", s.ID, ok, principal.UserID, valid, s.UserID)
	}
	if valid && (s.SeenAt == nil || s.SeenAt.Before(l.now.Add(-time.Minute))) {
		s.SeenAt = new(l.now)
	}
}

// forge uses one PAT's selector with another's secret.
func (l *life) forge(t *rapid.T) {
	one, two := l.draw(t), l.draw(t)
	if one == two {
		t.Skip("the same PAT")
	}
	if _, ok, err := l.authenticate(t, one.token.At(two.token.Selector)); ok || err != nil {
		t.Fatalf("a forged token authenticates: %t, %v", ok, err)
	}
}

func (l *life) remove(t *rapid.T) {
	s := l.draw(t)
	by := l.base + int64(rapid.IntRange(0, accounts).Draw(t, "by"))
	err := l.g.PATs.Delete(t.Context(), by, s.ID)
	if by != s.UserID || s.deleted {
		if !errors.Is(err, pat.ErrNotFound) {
			t.Fatalf("PAT %d deleted by %d: %v", s.ID, by, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.deleted = true
	delete(l.held[by-l.base], pat.DescriptionKey(s.Description))
}

func (l *life) disable(t *rapid.T) {
	at := rapid.IntRange(0, accounts-1).Draw(t, "account")
	l.disabled[at] = !l.disabled[at]
	if err := l.g.Users.SetDisabled(t.Context(), l.base+int64(at), l.disabled[at]); err != nil {
		t.Fatal(err)
	}
}

func (l *life) wait(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.Int64Range(1, 120_000).Draw(t, "milliseconds")) * time.Millisecond)
}

// compare holds everything that is stored against the model.
func (l *life) compare(t *rapid.T) {
	for at := range l.held {
		u, err := l.g.Users.Get(t.Context(), l.base+int64(at))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.held[at], u.PATs, cmpopts.EquateEmpty()); diff != "" || u.Disabled != l.disabled[at] {
			t.Fatalf("user %d, disabled %t: %s", u.ID, u.Disabled, diff)
		}
	}
	if len(l.tokens) == 0 {
		return
	}
	s := l.tokens[len(l.tokens)-1]
	stored, _, err := l.g.Tokens.PAT(t.Context(), s.UserID, s.ID)
	switch {
	case s.deleted:
		if !errors.Is(err, pat.ErrNotFound) {
			t.Fatalf("the deleted PAT %d: %v", s.ID, err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		if diff := cmp.Diff(s.PAT, stored); diff != "" {
			t.Fatalf("PAT %d: %s", s.ID, diff)
		}
	}
}

// newAccounts makes a run's accounts.
func newAccounts(t *rapid.T, g *ground, base int64) {
	for i := range int64(accounts) {
		kind := user.ServiceAccount
		if i == aPerson {
			kind = user.Person
		}
		if err := g.Users.Create(t.Context(), user.User{ID: base + i, Kind: kind, Name: fmt.Sprint(i), Role: auth.RoleViewer}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLifeOfPATs holds creation, use, deletion, expiry and disabled owners against a model, one step at a time.
func TestLifeOfPATs(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			last, base := int64(0), int64(1)
			rapid.Check(t, func(t *rapid.T) {
				l := &life{g: g, now: later(), base: base, last: &last}
				base += accounts + 1
				newAccounts(t, g, l.base)
				for i := range l.held {
					l.held[i] = map[string]int64{}
				}
				t.Repeat(map[string]func(*rapid.T){
					"create": l.create, "create again": l.create, "use": l.use, "forge": l.forge, "delete": l.remove,
					"disable": l.disable, "wait": l.wait, "": l.compare,
				})
			})
		})
	}
}
