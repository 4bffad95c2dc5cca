package memory

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// APITokens is the table ApiTokens.
type APITokens struct{ *tables }

// Get reads a token, or gives apitoken.ErrNotFound.
func (s *APITokens) Get(ctx context.Context, selector auth.Selector) (t apitoken.APIToken, err error) {
	err = s.read(ctx, "APITokens.Get", func() error {
		found, ok := s.apiTokens[selector]
		if !ok {
			return apitoken.ErrNotFound
		}
		t = found
		t.ExpiresAt = copyTime(found.ExpiresAt)
		return nil
	})
	return t, err
}

// List reads all tokens, ordered by name, then id.
func (s *APITokens) List(ctx context.Context) (all []apitoken.APIToken, err error) {
	err = s.read(ctx, "APITokens.List", func() error {
		for _, t := range s.apiTokens {
			t.ExpiresAt = copyTime(t.ExpiresAt)
			all = append(all, t)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b apitoken.APIToken) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Selector.String(), b.Selector.String()))
	})
	return all, err
}

// Create stores a new token with a random selector and gives its plain text. t.Selector and t.Verifier are not read.
func (s *APITokens) Create(ctx context.Context, t apitoken.APIToken, random io.Reader) (auth.Token, error) {
	t, token, err := apitoken.New(t, random)
	if err != nil {
		return auth.Token{}, err
	}
	t.ExpiresAt = copyTime(t.ExpiresAt)
	err = s.write(ctx, "APITokens.Create", func() error {
		s.apiTokens[t.Selector] = t
		return nil
	})
	if err != nil {
		return auth.Token{}, err
	}
	return token, nil
}

// Delete revokes a token at once; one that is not there is no error.
func (s *APITokens) Delete(ctx context.Context, selector auth.Selector) error {
	return s.write(ctx, "APITokens.Delete", func() error {
		delete(s.apiTokens, selector)
		return nil
	})
}

// Tokens is what the authorizer reads of three tables.
type Tokens struct{ *tables }

var _ authorizer.Tokens = (*Tokens)(nil)

// APIToken implements authorizer.Tokens.
func (s *Tokens) APIToken(ctx context.Context, selector auth.Selector) (apitoken.APIToken, error) {
	return (&APITokens{s.tables}).Get(ctx, selector)
}

// PAT implements authorizer.Tokens.
func (s *Tokens) PAT(ctx context.Context, userID, id int64) (p pat.PAT, u user.User, err error) {
	err = s.read(ctx, "Tokens.PAT", func() error {
		foundPAT, ok := s.pats[patKey{userID, id}]
		if !ok {
			return pat.ErrNotFound
		}
		foundUser, ok := s.users[userID]
		if !ok {
			return user.ErrNotFound
		}
		p, u = copyPAT(foundPAT), copyUser(foundUser)
		return nil
	})
	return p, u, err
}

// Seen implements authorizer.Tokens.
func (s *Tokens) Seen(ctx context.Context, userID, id int64, now, before time.Time) error {
	return s.write(ctx, "Tokens.Seen", func() error {
		p, ok := s.pats[patKey{userID, id}]
		if ok && (p.SeenAt == nil || p.SeenAt.Before(before)) {
			p.SeenAt = copyTime(&now)
			s.pats[patKey{userID, id}] = p
		}
		return nil
	})
}
