package clienttoken

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the client tokens in the table ClientTokens, and their numbers in the table Environments. It is safe for
// concurrent use.
type Store struct {
	client       *dynamodb.Client
	table        string
	access       string // the table of projects
	environments references.Store
	log          *eventlog.Log
}

// NewStore returns a Store that records its changes in log, which can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:       client,
		table:        tables[clienttokentable.Table],
		access:       tables[accesstable.Table],
		environments: environment.ReferencesStore(client, tables),
		log:          log,
	}
}

// List returns all tokens, ordered by name, time of creation, environment and type.
func (s *Store) List(ctx context.Context) ([]clienttokentable.Token, error) {
	all, err := clienttokentable.Scan(ctx, s.client, s.table)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b clienttokentable.Token) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Selector.String(), b.Selector.String()))
	})
	return all, nil
}

// Find returns the token that a text identifies: a secret of this service, or the ID of a token. The kind of its error
// is NotFound if there is none.
func (s *Store) Find(ctx context.Context, text string) (clienttokentable.Token, error) {
	secret, isSecret := clienttokentable.ParseSecret(text)
	selector, isID := secret.Selector, false
	if !isSecret {
		if selector, isID = clienttokentable.ParseID(text); !isID {
			return clienttokentable.Token{}, notFound()
		}
	}
	t, ok, err := clienttokentable.Get(ctx, s.client, s.table, selector)
	if err != nil {
		return clienttokentable.Token{}, err
	}
	if !ok || isSecret && !t.Verifies(secret) || isID && t.ID() != text {
		return clienttokentable.Token{}, notFound()
	}
	return t, nil
}

// Create stores a new token, and returns it and its secret. It ignores t.Selector, t.Verifier and t.SeenAt. The kind of
// its error is Validation if there is no such environment, NotFound if there is no such project, Conflict if a project is
// archived, or NoAccess if there are limit tokens.
func (s *Store) Create(ctx context.Context, t clienttokentable.Token, limit int, random io.Reader) (
	created clienttokentable.Token, secret clienttokentable.Secret, err error,
) {
	if t, secret, err = clienttokentable.New(t, random); err != nil {
		return clienttokentable.Token{}, clienttokentable.Secret{}, err
	}
	if created, err = s.create(ctx, t, limit); err != nil {
		return clienttokentable.Token{}, clienttokentable.Secret{}, err
	}
	return created, secret, nil
}

// Import stores a new token with a secret of another installation. The rest is as of Create. The kind of its error is
// also Conflict if a token has the secret.
func (s *Store) Import(ctx context.Context, t clienttokentable.Token, secret clienttokentable.Secret, limit int) (
	clienttokentable.Token, error,
) {
	return s.create(ctx, clienttokentable.Import(t, secret), limit)
}

func (s *Store) create(ctx context.Context, t clienttokentable.Token, limit int) (
	created clienttokentable.Token, err error,
) {
	t.SeenAt, t.ValidUntil, t.Other, t.AnnouncedDays, t.LastEvent = nil, nil, access.Selector{}, 0, 0
	var actions *dynamo.Actions
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		if err := s.checkEnvironment(ctx, t); err != nil {
			return nil, err
		}
		id, event, err := s.log.RecordActions(ctx,
			newChange(t, eventlog.APITokenCreated, newEventData(t), nil))
		if err != nil {
			return nil, err
		}
		created = t
		created.LastEvent = id
		expiry, err := s.recordShortLife(ctx, &created, t.CreatedAt)
		if err != nil {
			return nil, err
		}
		actions = &dynamo.Actions{}
		actions.Add(actionToken, dynamo.NewItem(s.table, clienttokentable.Hash, clienttokentable.Marshal(created)))
		actions.Add(actionReferences,
			s.environments.Change(created.Environment, references.Counts{Tokens: 1}, references.Counts{}))
		actions.Add(actionCount, s.count(limit))
		for _, project := range created.Projects {
			actions.Add(actionProject(project),
				accesstable.Condition{Active: true}.Actions(s.access, project, s.log.Now())...)
		}
		actions.Add(actionEvent, append(event, expiry...)...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		failed := actions.Failed(failures)
		for _, project := range created.Projects {
			if f, ok := failed[actionProject(project)]; ok {
				err := accesstable.Condition{Active: true}.Unmet(f, project, s.log.Now())
				if apierror.KindOf(err) == apierror.NotFound {
					return &missingProjectError{project, err}
				}
				if err != nil {
					return err
				}
			}
		}
		if created.Imported && failed[actionToken].Failed {
			return apierror.New(apierror.Conflict, "A client token with this secret already exists.")
		}
		if failed[actionCount].Failed {
			return tooMany(limit)
		}
		return nil
	})
	if err != nil {
		return clienttokentable.Token{}, fmt.Errorf("create a client token: %w", err)
	}
	return created, nil
}

// The names of the actions of a creation.
const (
	actionToken      = "token"
	actionReferences = "references" // of the environment
	actionCount      = "count"      // of all tokens
	actionEvent      = "event"
)

// missingProjectError reports that there is no project that a new token is for.
type missingProjectError struct {
	project string
	error
}

func (e *missingProjectError) Unwrap() error { return e.error }

// actionProject returns the name of the condition on a project of a new token.
func actionProject(id string) string { return "project " + id }

// checkEnvironment returns an error if the environment of a token does not exist.
func (s *Store) checkEnvironment(ctx context.Context, t clienttokentable.Token) error {
	found, err := s.environments.Read(ctx, []string{t.Environment})
	if err != nil {
		return err
	}
	if _, exists := found[t.Environment]; !exists {
		return apierror.Invalid(apierror.At("/body/environment", "must be the name of an environment").Sent(t.Environment))
	}
	return nil
}

// Update sets the expiry of the token that a text identifies, as in Find; nil: never. It changes both items of a token
// whose secret is being replaced. The kind of its error is NotFound
// if there is none. If nothing changes, Update only reads.
func (s *Store) Update(ctx context.Context, text string, expires *time.Time, now time.Time) error {
	if expires != nil { // as it is stored
		expires = new(datetime.Milliseconds(*expires))
	}
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Find(ctx, text)
		if err != nil || sameTime(old.ExpiresAt, expires) {
			return nil, err
		}
		other, err := s.other(ctx, old)
		if err != nil {
			return nil, err
		}
		actions, err := s.changeExpiry(ctx, old, expires, now)
		if err != nil || other == nil {
			return actions, err
		}
		more, err := s.changeExpiry(ctx, *other, expires, now)
		return append(actions, more...), err
	}, nil)
	if err != nil {
		return fmt.Errorf("change a client token: %w", err)
	}
	return nil
}

// changeExpiry returns the actions that change the expiry of one item, and record it.
func (s *Store) changeExpiry(ctx context.Context, old clienttokentable.Token, expires *time.Time, now time.Time) (
	[]types.TransactWriteItem, error,
) {
	next := old
	next.ExpiresAt, next.AnnouncedDays = expires, 0
	id, event, err := s.log.RecordActions(ctx,
		newChange(old, eventlog.APITokenUpdated, newEventData(next), newEventData(old)))
	if err != nil {
		return nil, err
	}
	next.LastEvent = id
	expiry, err := s.recordShortLife(ctx, &next, now)
	return slices.Concat([]types.TransactWriteItem{s.setExpiry(old, next)}, event, expiry), err
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// setExpiry returns the action that changes the expiry of a token to that of next. It does not touch seenAt, which is
// written at any time.
func (s *Store) setExpiry(old, next clienttokentable.Token) types.TransactWriteItem {
	update, attribute := eventlog.SetLast(next.LastEvent), expression.Name(clienttokentable.AttributeExpiresAt)
	if next.ExpiresAt == nil {
		update = update.Remove(attribute)
	} else {
		update = update.Set(attribute, expression.Value(dynamo.Time(*next.ExpiresAt)))
	}
	announced := expression.Name(clienttokentable.AttributeAnnouncedDays)
	if next.AnnouncedDays == 0 {
		update = update.Remove(announced)
	} else {
		update = update.Set(announced, expression.Value(next.AnnouncedDays))
	}
	return s.updateToken(old, update)
}

// updateToken returns the action that updates the item of a token unless it has changed.
func (s *Store) updateToken(old clienttokentable.Token, update expression.UpdateBuilder) types.TransactWriteItem {
	return dynamo.UpdateItem(s.table, clienttokentable.Key(old.Selector),
		expression.NewBuilder().WithUpdate(update).WithCondition(unchanged(old)))
}

// unchanged returns the condition that a token exists and has not changed since it was read, except for its seenAt.
func unchanged(t clienttokentable.Token) expression.ConditionBuilder {
	return eventlog.ExistsWithLast(clienttokentable.Hash, t.LastEvent)
}

// Delete revokes the token that a text identifies, as in Find, or one of its two secrets. The kind of its error is
// NotFound if there is none.
func (s *Store) Delete(ctx context.Context, text string) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Find(ctx, text)
		if err != nil {
			return nil, err
		}
		found, err := s.environments.Read(ctx, []string{old.Environment})
		if err != nil {
			return nil, err
		}
		actions, err := s.deletion(ctx, old)
		if err != nil {
			return nil, err
		}
		actions = append(actions, s.uncount())
		if _, exists := found[old.Environment]; exists { // otherwise a restore has not ended
			actions = append(actions, s.environments.Change(old.Environment, references.Counts{Tokens: -1}, references.Counts{}))
		}
		return actions, nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete a client token: %w", err)
	}
	return nil
}

// deletion returns the actions that delete the item of a token, and record it. They do not change any count.
func (s *Store) deletion(ctx context.Context, t clienttokentable.Token) ([]types.TransactWriteItem, error) {
	_, event, err := s.log.RecordActions(ctx, newChange(t, eventlog.APITokenDeleted, nil, newEventData(t)))
	if err != nil {
		return nil, err
	}
	deletion := dynamo.DeleteItem(s.table, clienttokentable.Key(t.Selector), unchanged(t))
	return append([]types.TransactWriteItem{deletion}, event...), nil
}
