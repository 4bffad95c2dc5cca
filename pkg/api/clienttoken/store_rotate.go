package clienttoken

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// The overlap of two secrets in hours.
const (
	DefaultOverlapHours = 24
	MaxOverlapHours     = 720
)

// Rotate stores a new secret of the token that a text identifies, as in Find, and returns its item. The secret in the text
// ends after the overlap. A secret that has ended and that it replaced is deleted. The kind of its error is NotFound if
// there is no such token, Conflict if two secrets are valid or none is, or NoAccess if there are limit tokens.
func (s *Store) Rotate(
	ctx context.Context, text string, now time.Time, overlap time.Duration, limit int, random io.Reader,
) (created clienttokentable.Token, secret clienttokentable.Secret, err error) {
	now = datetime.Milliseconds(now)
	next, secret := clienttokentable.Token{}, clienttokentable.Secret{}
	var actions *dynamo.Actions
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Find(ctx, text)
		if err != nil {
			return nil, err
		}
		other, err := s.other(ctx, old)
		if err != nil {
			return nil, err
		}
		if err := checkRotation(old, other, now); err != nil {
			return nil, err
		}
		if next.Selector == (access.Selector{}) { // not in an earlier attempt
			if next, secret, err = clienttokentable.New(old, random); err != nil {
				return nil, err
			}
		}
		ended := old
		ended.ValidUntil, ended.Other = new(now.Add(overlap)), next.Selector
		created = old
		created.Selector, created.Verifier, created.Imported = next.Selector, next.Verifier, false
		created.Other = old.Selector
		created.CreatedAt, created.SeenAt, created.ValidUntil = now, nil, nil
		created.AnnouncedDays, created.LastEvent = 0, 0
		actions = &dynamo.Actions{}
		if err := s.addRotation(ctx, actions, old, &ended, &created); err != nil {
			return nil, err
		}
		if other != nil { // it is replaced by the new item in the counts
			deletion, err := s.deletion(ctx, *other)
			actions.Add(actionToken, deletion...)
			return actions.List(), err
		}
		if err := s.checkStillExists(ctx, old.Environment); err != nil {
			return nil, err
		}
		actions.Add(actionReferences,
			s.environments.Change(old.Environment, references.Counts{Tokens: 1}, references.Counts{}))
		actions.Add(actionCount, s.count(limit))
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		if actions.Failed(failures)[actionCount].Failed {
			return tooMany(limit)
		}
		return nil
	})
	if err != nil {
		return clienttokentable.Token{}, clienttokentable.Secret{}, fmt.Errorf("rotate a client token: %w", err)
	}
	return created, secret, nil
}

// checkRotation returns an error if a token cannot be rotated. other is its other item, or nil.
func checkRotation(t clienttokentable.Token, other *clienttokentable.Token, now time.Time) error {
	switch {
	case other != nil && other.ValidUntil == nil:
		return apierror.Errorf(apierror.Conflict, "The client token %s is already replaced by %s. Rotate that one.", t.ID(),
			other.ID())
	case t.Expired(now):
		return apierror.Errorf(apierror.Conflict, "The client token %s has expired.", t.ID())
	case other != nil && !other.Expired(now):
		return apierror.Errorf(apierror.Conflict, "The client token %s replaces %s, which is valid until %s. Delete that one "+
			"first, or wait until then.", t.ID(), other.ID(), datetime.Format(*other.ValidUntil))
	}
	return nil
}

// addRotation adds the actions that write both items of a token and their events. It sets the last events of ended and
// created.
func (s *Store) addRotation(
	ctx context.Context, actions *dynamo.Actions, old clienttokentable.Token, ended, created *clienttokentable.Token,
) error {
	data := struct {
		eventData
		NewID string `json:"newId"`
	}{newEventData(*ended), created.Selector.String()}
	id, rotated, err := s.log.RecordActions(ctx, newChange(old, eventlog.APITokenRotated, data, newEventData(old)))
	if err != nil {
		return err
	}
	ended.LastEvent = id
	id, creation, err := s.log.RecordActions(ctx,
		newChange(*created, eventlog.APITokenCreated, newEventData(*created), nil))
	if err != nil {
		return err
	}
	created.LastEvent = id
	expiry, err := s.recordShortLife(ctx, created, created.CreatedAt)
	if err != nil {
		return err
	}
	actions.Add(actionToken, s.setValidUntil(old, *ended),
		dynamo.NewItem(s.table, clienttokentable.Hash, clienttokentable.Marshal(*created)))
	actions.Add(actionEvent, slices.Concat(rotated, creation, expiry)...)
	return nil
}

// setValidUntil returns the action that ends the secret of an item. It does not touch seenAt, as setExpiry.
func (s *Store) setValidUntil(old, ended clienttokentable.Token) types.TransactWriteItem {
	return s.updateToken(old, eventlog.SetLast(ended.LastEvent).
		Set(expression.Name(clienttokentable.AttributeValidUntil), expression.Value(dynamo.Time(*ended.ValidUntil))).
		Set(expression.Name(clienttokentable.AttributeOther), expression.Value(ended.Other.String())))
}

// other returns the other item of a token, or nil if it has one secret.
func (s *Store) other(ctx context.Context, t clienttokentable.Token) (*clienttokentable.Token, error) {
	if t.Other == (access.Selector{}) {
		return nil, nil //nolint:nilnil // it has one secret
	}
	other, ok, err := clienttokentable.Get(ctx, s.client, s.table, t.Other)
	if err != nil || !ok || other.Other != t.Selector {
		return nil, err
	}
	return &other, nil
}

// checkStillExists returns an error if the environment of a token does not exist, because a restore has not ended.
func (s *Store) checkStillExists(ctx context.Context, name string) error {
	found, err := s.environments.Read(ctx, []string{name})
	if err != nil {
		return err
	}
	if _, exists := found[name]; !exists {
		return apierror.Errorf(apierror.Conflict, "The environment %q of the client token does not exist.", name)
	}
	return nil
}
