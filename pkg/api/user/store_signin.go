package user

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// SignIn is what a verified token says about a person, and what to do about an unknown person. Each text has at most
// 255 characters, and no control characters.
type SignIn struct {
	Identity      Identity
	Email         string      // empty: none
	EmailVerified bool        // by the issuer
	Name          string      // of a new person; empty: the verified e-mail address, or the subject
	DefaultRole   access.Role // of a new person; 0: none is added
	Now           time.Time
	Logger        *slog.Logger // receives a line for each person who is linked or added
}

// SignIn is SignInWithDirectory without the directory.
func (s *Store) SignIn(ctx context.Context, in SignIn) (User, error) {
	u, _, err := s.SignInWithDirectory(ctx, in)
	return u, err
}

// SignInWithDirectory returns the person with the identity (contract section 3), and the directory of groups and custom
// root roles. This is the person who is linked to it; otherwise the one with the verified e-mail address, who is linked
// from then on; otherwise a new one, if there is a default role. Their account may be disabled. The kind of its error
// is AuthenticationRequired, and its message says why for the log, if there is no such person, if the one with the
// address is linked to another identity, if a person with the address of a disabled one would be added, and if the
// address is reserved for a missing account.
//
// A linked identity costs three GetItem, and one BatchGetItem from then on in the same process. An unknown one with an
// e-mail address costs up to six: four without a stale link. Each change is one transaction.
func (s *Store) SignInWithDirectory(ctx context.Context, in SignIn) (User, accesstable.Directory, error) {
	if id, ok := s.linked.get(in.Identity); ok {
		u, directory, err := s.personWithDirectory(ctx, id, in.Identity)
		if apierror.KindOf(err) != apierror.NotFound {
			return u, directory, err
		}
	}
	none := accesstable.Directory{}
	for attempt := 1; ; attempt++ {
		u, err := s.signIn(ctx, in)
		if err == nil {
			s.linked.set(in.Identity, u.ID)
			directory, err := s.access.Directory(ctx)
			return u, directory, err
		}
		if !errors.Is(err, errConcurrent) {
			return User{}, none, err
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return User{}, none, fmt.Errorf("sign in: the person was changed at the same time until the deadline: %w", err)
		}
	}
}

// personWithDirectory is personWith that also reads the directory, in the same call.
func (s *Store) personWithDirectory(ctx context.Context, id int64, identity Identity) (
	u User, directory accesstable.Directory, err error,
) {
	item, directory, err := s.itemWithDirectory(ctx, id)
	if err != nil {
		return User{}, directory, err
	}
	u, err = personOf(item, id, identity)
	return u, directory, err
}

// FindWithDirectory is Find that also reads the directory of groups and custom root roles, in the same call.
func (s *Store) FindWithDirectory(ctx context.Context, kind Kind, id int64) (User, accesstable.Directory, error) {
	item, directory, err := s.itemWithDirectory(ctx, id)
	if err != nil {
		return User{}, directory, err
	}
	u, err := FromItem(item)
	if err == nil && u.Kind != kind { // there is no account, or its deletion has begun
		err = notFound(kind, id)
	}
	return u, directory, err
}

// itemWithDirectory returns the item of an account, or nil, and the directory.
func (s *Store) itemWithDirectory(ctx context.Context, id int64) (
	item dynamo.Item, directory accesstable.Directory, err error,
) {
	got, err := dynamo.GetEach(ctx, s.client,
		map[string]dynamo.Item{s.table: Key(id), s.accessTable: accesstable.DirectoryKey()})
	if err != nil {
		return nil, directory, fmt.Errorf("get user %d: %w", id, err)
	}
	directory, err = accesstable.UnmarshalDirectory(got[s.accessTable])
	return got[s.table], directory, err
}

// signIn is one attempt. Its error is errConcurrent if a concurrent call has linked or added the person.
func (s *Store) signIn(ctx context.Context, in SignIn) (User, error) {
	u, stale, err := s.holder(ctx, in.Identity)
	if apierror.KindOf(err) != apierror.NotFound {
		return u, err
	}
	email, _ := ParseEmail(in.Email)
	u, err = s.personByEmail(ctx, email)
	known := err == nil
	switch {
	case !known && apierror.KindOf(err) != apierror.NotFound:
		return User{}, err
	case known && in.EmailVerified:
		return s.linkTo(ctx, u, in, stale)
	case in.DefaultRole == 0:
		return User{}, apierror.New(apierror.AuthenticationRequired,
			"no person has the identity or the e-mail address, and no default role is set")
	case known && u.Disabled:
		return User{}, apierror.New(apierror.AuthenticationRequired,
			"the person with the e-mail address, which is not verified, is disabled")
	}
	if !in.EmailVerified {
		email = ""
	}
	created := datetime.Milliseconds(in.Now)
	u, err = s.add(ctx, addition{
		User: User{
			Kind:      Person,
			Name:      cmp.Or(in.Name, email, in.Identity.Subject),
			Email:     email,
			Role:      in.DefaultRole,
			Identity:  &in.Identity,
			CreatedAt: &created,
		},
		signUp: true,
		stale:  stale,
	})
	switch {
	case apierror.KindOf(err) == apierror.NameExists:
		return User{}, errConcurrent
	case apierror.KindOf(err) == apierror.Validation:
		return User{}, apierror.Errorf(apierror.AuthenticationRequired, "the maximum number of people (%d) is reached",
			MaxPeople)
	case err == nil:
		in.Logger.InfoContext(ctx, "a person was added at the first sign-in", slog.Int64("userId", u.ID),
			slog.String("role", u.Role.String()))
	}
	return u, err
}

// personByEmail returns the person for whom an e-mail address is reserved. The kind of its error is NotFound if it is
// reserved for nobody, and AuthenticationRequired if the person does not exist.
func (s *Store) personByEmail(ctx context.Context, email string) (User, error) {
	if email == "" {
		return User{}, noEmail()
	}
	reservation, err := s.accountOf(ctx, emailIdentifier(email))
	if err != nil {
		return User{}, fmt.Errorf("find a person by the e-mail address: %w", err)
	}
	if reservation == nil {
		return User{}, noEmail()
	}
	u, err := s.Find(ctx, Person, reservation.Account)
	if apierror.KindOf(err) == apierror.NotFound {
		return User{}, apierror.New(apierror.AuthenticationRequired,
			"the e-mail address is reserved for a person who does not exist")
	}
	return u, err
}

func noEmail() error { return apierror.New(apierror.NotFound, "No person has the e-mail address.") }

// linkTo links the identity of a sign-in to a person. The kind of its error is
// AuthenticationRequired if the person has another one.
func (s *Store) linkTo(ctx context.Context, u User, in SignIn, stale *identifierRecord) (User, error) {
	if u.Identity != nil && *u.Identity != in.Identity {
		return User{}, apierror.New(apierror.AuthenticationRequired,
			"the person with the e-mail address is linked to another identity")
	}
	failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		return s.replaceIdentity(eventlog.WithActor(ctx, u.Actor()), u, in.Identity, stale)
	})
	if err != nil {
		return User{}, fmt.Errorf("link user %d: %w", u.ID, err)
	}
	if failures != nil {
		return User{}, errConcurrent
	}
	in.Logger.InfoContext(ctx, "a person was linked to an identity", slog.Int64("userId", u.ID))
	u.Identity = &in.Identity
	return u, nil
}
