package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/user"
)

const (
	// administratorID is the first administrator's id.
	administratorID = 1
	// firstTokenName is the name of the API token that Initialise makes.
	firstTokenName = "init"
)

// Administrator is the first person of an installation.
type Administrator struct{ Name, Email string }

func (a Administrator) account() user.User {
	return user.User{ID: administratorID, Kind: user.Person, Name: a.Name, Email: a.Email, Role: auth.RoleAdmin}
}

// Initialised is what Initialise has found or done.
type Initialised struct {
	New           bool // this call has done it; else an earlier one had
	Marker        Marker
	Administrator user.User  // as it is stored; zero where New is false
	Token         auth.Token // the first API token, once; zero where New is false
}

// Initialise makes empty tables an installation: the default feature types and context fields, the first administrator and an API token
// for everything else. All of it and the marker are one transaction. So it does nothing where the marker is, it makes one token even if
// it runs twice at once, and what stops it leaves nothing half done. What is there already, without a marker, stays as it is. Of c, Known
// is not read. Give the context a deadline.
func Initialise(ctx context.Context, c Config, administrator Administrator) (Initialised, error) {
	s := newSeeder(c)
	stored, token, err := apitoken.New(apitoken.APIToken{Name: firstTokenName}, c.Random)
	if err != nil {
		return Initialised{}, fmt.Errorf("make the API token: %w", err)
	}
	for attempt := 1; ; attempt++ {
		marker, marked, err := ReadMarker(ctx, c.Client, c.Tables)
		switch {
		case err != nil:
			return Initialised{}, err
		case marked && marker.APIToken == stored.Selector.String(): // an attempt of ours was written and its answer lost
			return s.initialised(ctx, marker, administrator, token), nil
		case marked:
			return Initialised{Marker: marker}, nil
		}
		written, err := s.install(ctx, administrator, s.apiTokens.Creation(stored), s.marking(&stored.Selector))
		if err != nil {
			return Initialised{}, fmt.Errorf("initialise: %w", err)
		}
		if written {
			marker = Marker{At: datetime.Milliseconds(s.Now()), APIToken: stored.Selector.String()}
			return s.initialised(ctx, marker, administrator, token), nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil { // somebody else writes too: look at what
			return Initialised{}, apierror.NewUnavailable(fmt.Errorf("initialise: lost every race: %w", err))
		}
	}
}

// initialised is what this call has done. Nothing is a fault any more: the token must reach the caller.
func (s *seeder) initialised(ctx context.Context, marker Marker, administrator Administrator, token auth.Token) Initialised {
	account, err := s.users.Get(ctx, administratorID) // one that was there already has stayed as it was
	if err != nil {
		account = administrator.account()
	}
	return Initialised{New: true, Marker: marker, Administrator: account, Token: token}
}

// install writes what is missing of what every installation has, and the other actions with it, all or nothing; written is false where
// one of them is there by now.
func (s *seeder) install(ctx context.Context, administrator Administrator, others ...types.TransactWriteItem) (written bool, err error) {
	missing, err := s.missing(ctx, administrator)
	if err != nil {
		return false, err
	}
	actions := append(missing, others...)
	if len(actions) == 0 {
		return true, nil
	}
	failures, err := dynamo.Transact(ctx, s.Client, actions)
	return err == nil && failures == nil, err
}

// missing is the actions that write what every installation has, without what is there.
func (s *seeder) missing(ctx context.Context, administrator Administrator) ([]types.TransactWriteItem, error) {
	var actions []types.TransactWriteItem
	haveTypes, err := s.types.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range featuretype.Defaults() {
		if !slices.ContainsFunc(haveTypes, func(have featuretype.FeatureType) bool { return have.ID == t.ID }) {
			actions = append(actions, s.types.Creation(t))
		}
	}
	haveFields, err := s.fields.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range contextfield.Defaults(datetime.Milliseconds(s.Now())) {
		if !slices.ContainsFunc(haveFields, func(have contextfield.ContextField) bool { return have.Name == f.Name }) {
			actions = append(actions, s.fields.Creation(f))
		}
	}
	switch _, err := s.users.Get(ctx, administratorID); {
	case errors.Is(err, user.ErrNotFound):
		actions = append(actions, s.users.Creation(administrator.account()))
	case err != nil:
		return nil, err
	}
	return actions, nil
}
