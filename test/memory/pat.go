package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/pat"
)

// PATs is the table PersonalAccessTokens.
type PATs struct{ *tables }

var (
	_ pat.Creator = (*PATs)(nil)
	_ pat.Deleter = (*PATs)(nil)
)

type patKey struct{ userID, id int64 }

var errNoIDsLeft = errors.New("all ids of tokens are used up")

// Create implements pat.Creator. Secrets come from the system's randomness.
func (s *PATs) Create(ctx context.Context, p pat.PAT, owner pat.Owner) (made pat.PAT, token auth.Token, err error) {
	err = s.write(ctx, "PATs.Create", func() error {
		account, ok := s.users[p.UserID]
		if !ok || account.Kind != owner.Kind {
			return pat.ErrNoOwner
		}
		key := pat.DescriptionKey(p.Description)
		_, exists := account.PATs[key]
		switch {
		case len(account.PATs) >= owner.Limit:
			return pat.ErrTooMany
		case exists:
			return pat.ErrDescriptionExists
		case s.lastPAT >= auth.MaxID:
			return errNoIDsLeft
		}
		fresh, err := auth.NewToken(auth.PAT, auth.PATSelector(p.UserID, s.lastPAT+1), rand.Reader)
		if err != nil {
			return err
		}
		s.lastPAT++
		p.ID, p.Verifier, p.SeenAt = s.lastPAT, fresh.Verifier(), nil
		s.pats[patKey{p.UserID, p.ID}] = copyPAT(p)
		account.PATs[key] = p.ID
		made, token = copyPAT(p), fresh
		return nil
	})
	if err != nil {
		return pat.PAT{}, auth.Token{}, err
	}
	return made, token, nil
}

// List reads all PATs, ordered by id.
func (s *PATs) List(ctx context.Context) (all []pat.PAT, err error) {
	err = s.read(ctx, "PATs.List", func() error {
		for _, p := range s.pats {
			all = append(all, copyPAT(p))
		}
		return nil
	})
	slices.SortFunc(all, func(a, b pat.PAT) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// Delete implements pat.Deleter.
func (s *PATs) Delete(ctx context.Context, userID, id int64) error {
	return s.write(ctx, "PATs.Delete", func() error {
		p, ok := s.pats[patKey{userID, id}]
		if !ok {
			return pat.ErrNotFound
		}
		delete(s.pats, patKey{userID, id})
		delete(s.users[userID].PATs, pat.DescriptionKey(p.Description))
		return nil
	})
}

func copyPAT(p pat.PAT) pat.PAT {
	p.ExpiresAt, p.CreatedAt = datetime.Milliseconds(p.ExpiresAt), datetime.Milliseconds(p.CreatedAt)
	p.SeenAt = copyTime(p.SeenAt)
	return p
}
