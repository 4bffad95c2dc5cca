package seed

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

const (
	// tokenName is the description of the seeded PATs and the name of the seeded API token. Lost ones are found by it.
	tokenName = "seed"
	patYears  = 10 // how long a seeded PAT is valid
)

// credentials fills the result with the known credentials that are valid, and makes the others.
func (s *seeder) credentials(ctx context.Context, r *Result) error {
	token, err := s.apiToken(ctx)
	if err != nil {
		return fmt.Errorf("make the API token: %w", err)
	}
	r.Credentials.APIToken = token
	if token != s.Known.APIToken {
		r.Renewed++
	}
	for _, account := range accounts() {
		current, err := s.users.Get(ctx, account.ID)
		if apierror.KindOf(err) == apierror.NotFound { // deleted by a user
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
		known := s.knownPAT(account.ID)
		token, err := s.pat(ctx, current, known)
		if err != nil {
			return fmt.Errorf("make the credential of %s: %w", account.Name, err)
		}
		r.Credentials.Users = append(r.Credentials.Users, User{
			ID: current.ID, Name: current.Name, Role: current.Role, PAT: token, Disabled: current.Disabled,
		})
		if token != known {
			r.Renewed++
		}
	}
	if err := s.clientCredentials(ctx, r); err != nil {
		return fmt.Errorf("make the client tokens: %w", err)
	}
	return nil
}

// apiToken returns the known API token if it is valid. Otherwise it revokes the seeded one and makes a new one.
func (s *seeder) apiToken(ctx context.Context) (string, error) {
	all, err := s.apiTokens.List(ctx)
	if err != nil {
		return "", err
	}
	known, malformed := access.ParseToken(s.Known.APIToken)
	for _, t := range all {
		if malformed == nil && known.Kind == access.APIToken && known.Selector == t.Selector &&
			known.Verifier().Equal(t.Verifier[:]) && !t.Expired(s.Now()) {
			return s.Known.APIToken, nil
		}
	}
	for _, t := range all {
		if t.Name == tokenName {
			if err := s.apiTokens.Delete(ctx, t.Selector); err != nil {
				return "", err
			}
		}
	}
	now := datetime.Milliseconds(s.Now())
	created, err := s.apiTokens.Create(ctx, apitoken.APIToken{Name: tokenName, CreatedAt: now,
		ExpiresAt: s.expiry(now, 0)}, s.Random)
	if err != nil {
		return "", err
	}
	return created.Reveal(), nil
}

// clientCredentials makes a token of each type for each environment of a new installation, unless a known one is valid.
func (s *seeder) clientCredentials(ctx context.Context, r *Result) error {
	environments, err := s.environments.List(ctx)
	if err != nil {
		return err
	}
	all, err := s.clientTokens.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range environment.Defaults() {
		if !slices.ContainsFunc(environments, func(have environment.Environment) bool { return have.Name == e.Name }) {
			continue // deleted by a user
		}
		for _, kind := range []clienttokentable.Type{clienttokentable.Backend, clienttokentable.Frontend} {
			wanted := ClientToken{Type: kind, Environment: e.Name}
			if wanted.Secret = s.knownClientToken(all, wanted); wanted.Secret == "" {
				if wanted.Secret, err = s.newClientToken(ctx, all, wanted); err != nil {
					return err
				}
				r.Renewed++
			}
			r.Credentials.ClientTokens = append(r.Credentials.ClientTokens, wanted)
		}
	}
	return nil
}

// knownClientToken returns the known token of a type and an environment if it is valid, otherwise "".
func (s *seeder) knownClientToken(all []clienttokentable.Token, wanted ClientToken) string {
	for _, known := range s.Known.ClientTokens {
		secret, _ := clienttokentable.ParseSecret(known.Secret)
		for _, t := range all {
			if t.Type == wanted.Type && t.Environment == wanted.Environment && t.Verifies(secret) && !t.Expired(s.Now()) {
				return known.Secret
			}
		}
	}
	return ""
}

// newClientToken revokes the seeded token of a type and an environment, and makes a new one.
func (s *seeder) newClientToken(
	ctx context.Context, all []clienttokentable.Token, wanted ClientToken,
) (string, error) {
	for _, t := range all {
		if t.Name != tokenName || t.Type != wanted.Type || t.Environment != wanted.Environment {
			continue
		}
		if err := apierror.IgnoreNotFound(s.clientTokens.Delete(ctx, t.ID())); err != nil {
			return "", err
		}
	}
	now := datetime.Milliseconds(s.Now())
	_, secret, err := s.clientTokens.Create(ctx, clienttokentable.Token{
		Name: tokenName, Type: wanted.Type, Environment: wanted.Environment, CreatedAt: now, ExpiresAt: s.expiry(now, 0),
	}, clienttoken.MaxTokens, s.Random)
	return secret.Reveal(), err
}

// pat returns the known PAT if it is valid. Otherwise it revokes the owner's seeded one and makes a new one.
func (s *seeder) pat(ctx context.Context, owner user.User, known string) (string, error) {
	if valid, err := s.isValid(ctx, known, owner.ID); err != nil || valid {
		return known, err
	}
	if id, lost := owner.PATs[pat.DescriptionKey(tokenName)]; lost {
		if err := apierror.IgnoreNotFound(s.pats.Delete(ctx, pat.AnyKind, owner.ID, id)); err != nil {
			return "", err
		}
	}
	now := datetime.Milliseconds(s.Now())
	_, created, err := s.pats.Create(ctx, pat.PAT{
		UserID: owner.ID, Description: tokenName, CreatedAt: now, ExpiresAt: *s.expiry(now, patYears),
	}, pat.Owner{Kind: owner.Kind, Limit: pat.MostPerOwner})
	if err != nil {
		return "", err
	}
	return created.Reveal(), nil
}

func (s *seeder) knownPAT(userID int64) string {
	for _, u := range s.Known.Users {
		if u.ID == userID {
			return u.PAT
		}
	}
	return ""
}

// isValid reports whether a text is a PAT of the user that the authorizer accepts unless the user is disabled. It does
// not count as a use of the PAT.
func (s *seeder) isValid(ctx context.Context, text string, userID int64) (bool, error) {
	token, err := access.ParseToken(text)
	owner, id, _ := token.Selector.PATIDs()
	if err != nil || token.Kind != access.PAT || owner != userID {
		return false, nil //nolint:nilerr // a text that is not a token is not valid
	}
	stored, _, err := s.pats.Get(ctx, owner, id)
	if apierror.KindOf(err) == apierror.NotFound {
		return false, nil
	}
	return err == nil && token.Verifier().Equal(stored.Verifier[:]) && !stored.Expired(s.Now()), err
}
