package seed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

const (
	// tokenName is the seeded PATs' description, by which a lost one is found, and the seeded API token's name.
	tokenName = "seed"
	// patYears is how long a seeded PAT is valid; a known one that has expired is made anew.
	patYears = 10
)

// credentials fills the result with what is valid of the known credentials and makes the others.
func (s *seeder) credentials(ctx context.Context, r *Result) error {
	token, made, err := s.apiToken(ctx)
	if err != nil {
		return err
	}
	r.Credentials.APIToken = token
	if made {
		r.Renewed++
	}
	for _, account := range accounts() {
		current, err := s.users.Get(ctx, account.ID)
		if errors.Is(err, user.ErrNotFound) { // deleted since
			continue
		}
		if err != nil {
			return fmt.Errorf("make the credential of %s: %w", account.Name, err)
		}
		if account.Kind == user.ServiceAccount {
			r.Credentials.ServiceAccounts = append(r.Credentials.ServiceAccounts,
				ServiceAccount{ID: current.ID, Name: current.Name, Role: current.Role})
			continue
		}
		token, made, err := s.pat(ctx, current)
		if err != nil {
			return fmt.Errorf("make the credential of %s: %w", account.Name, err)
		}
		r.Credentials.Users = append(r.Credentials.Users, User{ID: current.ID, Name: current.Name, Role: current.Role, PAT: token})
		if made {
			r.Renewed++
		}
	}
	return nil
}

// apiTokenSelector is where the seeded API token is stored: always the same place, so that a lost one is found. Nothing in it is secret.
func apiTokenSelector() auth.Selector {
	sum := sha256.Sum256([]byte("the seeded API token"))
	return auth.Selector(sum[:len(auth.Selector{})])
}

func (s *seeder) apiToken(ctx context.Context) (token string, made bool, err error) {
	selector := apiTokenSelector()
	if known, err := auth.ParseToken(s.Known.APIToken); err == nil && known.Kind == auth.APIToken {
		stored, err := s.tokens.APIToken(ctx, known.Selector)
		switch {
		case errors.Is(err, apitoken.ErrNotFound):
		case err != nil:
			return "", false, fmt.Errorf("check the known API token: %w", err)
		case known.Verifier().Equal(stored.Verifier[:]) && !stored.Expired(s.Now()):
			return s.Known.APIToken, false, nil
		}
	}
	if err := s.apiTokens.Delete(ctx, selector); err != nil {
		return "", false, fmt.Errorf("revoke the seeded API token: %w", err)
	}
	// The selector is the first that a store reads of randomness.
	random := io.MultiReader(bytes.NewReader(selector[:]), s.Random)
	created, err := s.apiTokens.Create(ctx, apitoken.APIToken{Name: tokenName}, random)
	if err != nil {
		return "", false, fmt.Errorf("make the API token: %w", err)
	}
	return created.Reveal(), true, nil
}

func (s *seeder) pat(ctx context.Context, owner user.User) (token string, made bool, err error) {
	if known := s.knownPAT(owner.ID); known != "" {
		valid, err := s.isValid(ctx, known, owner.ID)
		if err != nil {
			return "", false, err
		}
		if valid {
			return known, false, nil
		}
	}
	if id, lost := owner.PATs[pat.DescriptionKey(tokenName)]; lost {
		if err := s.pats.Delete(ctx, owner.ID, id); err != nil && !errors.Is(err, pat.ErrNotFound) {
			return "", false, fmt.Errorf("revoke the seeded PAT: %w", err)
		}
	}
	now := datetime.Milliseconds(s.Now())
	_, created, err := s.pats.Create(ctx, pat.PAT{
		UserID: owner.ID, Description: tokenName, CreatedAt: now, ExpiresAt: now.AddDate(patYears, 0, 0),
	}, pat.Owner{Kind: owner.Kind, Limit: pat.MostPerOwner})
	if err != nil {
		return "", false, err
	}
	return created.Reveal(), true, nil
}

func (s *seeder) knownPAT(userID int64) string {
	for _, u := range s.Known.Users {
		if u.ID == userID {
			return u.PAT
		}
	}
	return ""
}

// isValid says whether a text is a PAT of the user that the authorizer would take.
func (s *seeder) isValid(ctx context.Context, text string, userID int64) (bool, error) {
	token, err := auth.ParseToken(text)
	if err != nil || token.Kind != auth.PAT {
		return false, nil //nolint:nilerr // a text that is no token is not valid
	}
	owner, id, _ := token.Selector.PATIDs() // ParseToken has checked them
	if owner != userID {
		return false, nil
	}
	stored, _, err := s.tokens.PAT(ctx, owner, id)
	switch {
	case errors.Is(err, pat.ErrNotFound) || errors.Is(err, user.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("check the known PAT: %w", err)
	}
	return token.Verifier().Equal(stored.Verifier[:]) && !stored.Expired(s.Now()), nil
}
