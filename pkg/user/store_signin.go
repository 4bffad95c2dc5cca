package user

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
)

// SignIn is what a verified token says about a person, and what to do about an unknown person. Each text has at most 255 characters, and no
// control characters.
type SignIn struct {
	Identity    Identity
	Email       string    // verified by the issuer; empty: none
	Name        string    // of a new person; empty: the e-mail address, or the subject
	DefaultRole auth.Role // of a new person; empty: none is added
	Now         time.Time
	Logger      *slog.Logger // receives a line for each person who is linked or added
}

// SignIn returns the person with the identity (contract section 3). This is the person who is linked to it; otherwise the one with the
// e-mail address, who is linked from then on; otherwise a new one, if there is a default role. Their account may be disabled. It returns
// ErrUnknownIdentity if there is no such person, ErrAmbiguousEmail if more than one has the address, and ErrEmailExists if the address is
// reserved for nobody. Each of these errors is returned again for ten seconds without a call: otherwise everyone to whom the issuer gives a
// token could cause a Scan with each request.
//
// A linked identity costs two GetItem, and one from then on in the same process. An unknown one also costs a consistent Scan if it has an
// e-mail address: the index of addresses distinguishes letter case and is not consistent, and reservations do not show two people with one
// address. Each change is one transaction.
func (s *Store) SignIn(ctx context.Context, in SignIn) (User, error) {
	if id, ok := s.linked.get(in.Identity); ok {
		if u, err := s.personWith(ctx, id, in.Identity); !errors.Is(err, ErrNotFound) {
			return u, err
		}
	}
	if err := s.linked.refused(in); err != nil {
		return User{}, err
	}
	email, _ := ParseEmail(in.Email)
	for attempt := 1; ; attempt++ {
		u, err := s.signIn(ctx, in, email)
		if err == nil {
			s.linked.set(in.Identity, u.ID)
			return u, nil
		}
		// A concurrent call has linked the identity or added the person. But if nobody has the address for which the reservation exists, it
		// belongs to an address that differs in a letter such as ς, or the person's item was deleted without it.
		if errors.Is(err, ErrUnknownIdentity) || errors.Is(err, ErrAmbiguousEmail) || errors.Is(err, ErrEmailExists) && attempt == maxAttempts {
			s.linked.refuse(in, err)
			return User{}, err
		}
		if !errors.Is(err, errLinked) && !errors.Is(err, ErrEmailExists) {
			return User{}, err
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return User{}, fmt.Errorf("sign in: the person was changed at the same time until the deadline: %w", err)
		}
	}
}

// maxAttempts is the number of attempts to add a person.
const maxAttempts = 5

// signIn is one attempt. Its error is errLinked or ErrEmailExists if a concurrent call was faster.
func (s *Store) signIn(ctx context.Context, in SignIn, email string) (User, error) {
	u, stale, err := s.holder(ctx, in.Identity)
	if !errors.Is(err, ErrNotFound) {
		return u, err
	}
	u, err = s.personByEmail(ctx, email)
	switch {
	case err == nil:
		return s.linkTo(ctx, u, in, stale)
	case !errors.Is(err, ErrNotFound):
		return User{}, err
	case in.DefaultRole == "":
		return User{}, ErrUnknownIdentity
	}
	created := datetime.Milliseconds(in.Now)
	u, err = s.add(ctx, User{
		Kind: Person, Name: cmp.Or(in.Name, email, in.Identity.Subject), Email: email, Role: in.DefaultRole, Identity: &in.Identity,
		CreatedAt: &created,
	}, stale)
	if err == nil {
		in.Logger.InfoContext(ctx, "a person was added at the first sign-in", slog.Int64("userId", u.ID), slog.String("role", string(u.Role)))
	}
	return u, err
}

// personByEmail returns the person with an e-mail address, ErrNotFound or ErrAmbiguousEmail.
func (s *Store) personByEmail(ctx context.Context, email string) (User, error) {
	if email == "" {
		return User{}, ErrNotFound
	}
	found, err := User{}, ErrNotFound
	for item, failure := range dynamo.Scan(ctx, s.client, s.table) {
		if failure != nil {
			return User{}, fmt.Errorf("find a person by the e-mail address: %w", failure)
		}
		u := FromItem(item)
		if u.Kind != Person || strings.ToLower(u.Email) != email {
			continue
		}
		if err == nil {
			return User{}, fmt.Errorf("%w: users %d and %d", ErrAmbiguousEmail, min(found.ID, u.ID), max(found.ID, u.ID))
		}
		found, err = u, nil
	}
	return found, err
}

// linkTo links the identity of a sign-in to a person, who may have another one.
func (s *Store) linkTo(ctx context.Context, u User, in SignIn, stale int64) (User, error) {
	if err := s.replaceIdentity(ctx, u, in.Identity, stale); err != nil {
		return User{}, err
	}
	if u.Identity != nil && *u.Identity != in.Identity {
		in.Logger.WarnContext(ctx, "another identity replaced the one that a person was linked to", slog.Int64("userId", u.ID))
	} else {
		in.Logger.InfoContext(ctx, "a person was linked to an identity", slog.Int64("userId", u.ID))
	}
	u.Identity = &in.Identity
	return u, nil
}
