package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	administratorID = 1
	firstTokenName  = "init" // the name of the API token that Initialize makes
)

// Administrator is the first person of an installation.
type Administrator struct{ Name, Email string }

func (a Administrator) account() user.User {
	return user.User{ID: administratorID, Kind: user.Person, Name: a.Name, Email: a.Email, Role: access.RoleAdmin}
}

// Initialized is what Initialize found or did.
type Initialized struct {
	New           bool // this call wrote it
	Marker        Marker
	Administrator user.User    // as stored; only if New
	Token         access.Token // the first API token; only if New
}

// Initialize raises the counter of accounts. Then one transaction writes the default feature types, context fields and
// environments, the first administrator and an API token, together with the marker. So an interrupted call writes
// everything or nothing, and concurrent calls create one token. It changes nothing that exists, and does nothing if the
// marker exists. The context requires a deadline.
func Initialize(ctx context.Context, c Config, administrator Administrator) (Initialized, error) {
	s := newSeeder(c)
	now := datetime.Milliseconds(c.Now())
	stored, token, err := apitoken.New(apitoken.APIToken{Name: firstTokenName, CreatedAt: now,
		ExpiresAt: c.expiry(now, 0)}, c.Random)
	if err != nil {
		return Initialized{}, fmt.Errorf("make the API token: %w", err)
	}
	for attempt := 1; ; attempt++ {
		marker, marked, err := ReadMarker(ctx, c.Client, c.Tables)
		if err != nil {
			return Initialized{}, err
		}
		if marked {
			return Initialized{Marker: marker}, nil
		}
		written, err := s.initialize(ctx, administrator, stored)
		if kind := apierror.KindOf(err); kind == apierror.NameExists || kind == apierror.Conflict {
			return s.impossible(ctx, administrator, err)
		}
		if err != nil {
			return Initialized{}, fmt.Errorf("initialize: %w", err)
		}
		if written {
			marker = Marker{At: datetime.Milliseconds(s.Now()), APIToken: stored.Selector.String()}
			account, err := s.users.Get(ctx, administratorID) // an existing account was not changed
			if err != nil {                                   // the token must reach the caller nevertheless
				account = administrator.account()
			}
			return Initialized{New: true, Marker: marker, Administrator: account, Token: token}, nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil { // a concurrent writer has written: read again what exists
			return Initialized{}, fmt.Errorf("initialize: concurrent writes prevented it until the deadline: %w", err)
		}
	}
}

// missingEnvironments returns the actions that create the environments of a new installation, if it has none.
func (s *seeder) missingEnvironments(ctx context.Context) ([]types.TransactWriteItem, error) {
	have, err := s.environments.List(ctx)
	if err != nil || len(have) > 0 {
		return nil, err
	}
	return s.environments.CreateActions(ctx, environment.Defaults()...)
}

// impossible returns the error that the administrator cannot be added, unless a concurrent call has initialized.
func (s *seeder) impossible(ctx context.Context, administrator Administrator, cause error) (Initialized, error) {
	marker, marked, err := ReadMarker(ctx, s.Client, s.Tables)
	if err != nil || marked {
		return Initialized{Marker: marker}, err
	}
	if apierror.KindOf(cause) == apierror.Conflict {
		return Initialized{}, apierror.Errorf(apierror.Conflict, "The account %d exists, but its deletion has not ended. "+
			"Restore the tables from a backup, or delete the item.", administratorID)
	}
	return Initialized{}, apierror.Errorf(apierror.NameExists, "The e-mail address %q is reserved for another account. "+
		"Choose another address, or if the table Users was lost, restore all tables (see docs/backup.md).", administrator.Email)
}

// initialize is one attempt. written is false if a concurrent writer has written.
func (s *seeder) initialize(ctx context.Context, administrator Administrator, token apitoken.APIToken) (written bool,
	err error) {
	creation, err := s.apiTokens.CreateActions(ctx, token)
	missing, missingErr := s.missing(ctx, administrator)
	if err := errors.Join(err, missingErr); err != nil {
		return false, err
	}
	return s.writeMarker(ctx, &token.Selector, append(creation, missing...)...)
}

// missing returns the actions that write what is missing of what every installation needs. They fail if a
// concurrent writer has written.
func (s *seeder) missing(ctx context.Context, administrator Administrator) (actions []types.TransactWriteItem,
	err error) {
	haveTypes, err := s.types.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range toggle.DefaultTypes() {
		if !slices.ContainsFunc(haveTypes, func(have toggle.Type) bool { return have.ID == t.ID }) {
			actions = append(actions, s.types.CreateAction(t))
		}
	}
	haveFields, err := s.fields.List(ctx)
	if err != nil {
		return nil, err
	}
	var fields []contextfield.ContextField
	for _, f := range contextfield.Defaults(datetime.Milliseconds(s.Now())) {
		if !slices.ContainsFunc(haveFields, func(have contextfield.ContextField) bool { return have.Name == f.Name }) {
			fields = append(fields, f)
		}
	}
	if fields != nil {
		creation, err := s.fields.CreateActions(ctx, fields...)
		if err != nil {
			return nil, err
		}
		actions = append(actions, creation...)
	}
	environments, err := s.missingEnvironments(ctx)
	if err != nil {
		return nil, err
	}
	actions = append(actions, environments...)
	_, err = s.users.Get(ctx, administratorID)
	if apierror.KindOf(err) == apierror.NotFound {
		if err := s.users.ReserveID(ctx, administratorID); err != nil {
			return nil, err
		}
		person, err := s.users.CreateActions(ctx, administrator.account())
		return append(actions, person...), err
	}
	return actions, err
}
