package user

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// BeginDeletion makes an account of the kind unusable and records its deletion: from then on its tokens and its
// identity are rejected, it is not listed, and it cannot be changed. If a deletion has begun but not ended,
// BeginDeletion does nothing. It returns the account. keep, such as KeepAdmin, adds conditions to the transaction; its
// error is returned. nil: no conditions. The kind of the error of BeginDeletion is NotFound if there is no such account.
// It is one consistent read and one transaction.
func (s *Store) BeginDeletion(
	ctx context.Context, kind Kind, id int64, keep func(context.Context, *dynamo.Actions, User) error,
) (u User, err error) {
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		var actions dynamo.Actions
		stored, err := s.stored(ctx, id)
		if err != nil {
			return nil, err
		}
		if stored.Deleting == kind {
			u = stored.deleted()
			return nil, nil
		}
		if stored.Kind != kind {
			return nil, notFound(kind, id)
		}
		u = stored.account()
		if keep != nil {
			if err := keep(ctx, &actions, u); err != nil {
				return nil, err
			}
		}
		event, record, err := s.log.RecordActions(ctx, u.deletion())
		if err != nil {
			return nil, err
		}
		actions.Add(actionAccount, s.update(id, expression.NewBuilder().
			WithCondition(expression.Name(attributeKind).Equal(expression.Value(kind)).And(eventlog.HasLast(u.LastEvent))).
			WithUpdate(eventlog.SetLast(event).
				Set(expression.Name(attributeDisabled), expression.Value(true)).
				Set(expression.Name(attributeDeleting), expression.Value(kind)).
				Remove(expression.Name(attributeKind)))))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, nil)
	if err != nil {
		return User{}, fmt.Errorf("begin the deletion of user %d: %w", id, err)
	}
	return u, nil
}

// stored returns the item of an account, even if its deletion has begun. If there is none, it has no kind.
func (s *Store) stored(ctx context.Context, id int64) (record, error) {
	var stored record
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return record{}, fmt.Errorf("get user %d: %w", id, err)
	}
	return stored, dynamo.Unmarshal(item, &stored)
}

// deleted returns the account of an item whose deletion has begun. If it has not, the account has no kind.
func (r record) deleted() User {
	u := r.account()
	u.Kind = r.Deleting
	return u
}

// EndDeletion deletes the item of an account whose deletion has begun, and the reservations of its names and the
// link of its identity unless they are another account's. It subtracts the account from the number of its kind, once,
// even if calls are concurrent. It does nothing if no deletion has begun, or if a concurrent call has ended it. It is one
// consistent read and one transaction. The tokens must be deleted before.
func (s *Store) EndDeletion(ctx context.Context, id int64) error {
	stored, err := s.stored(ctx, id)
	if err != nil {
		return err
	}
	u := stored.deleted()
	if u.Kind == "" {
		return nil
	}
	// Since BeginDeletion the account has not changed: all writes have a condition on its kind or its last event.
	identifiers := u.identifiers()
	for {
		var actions dynamo.Actions
		actions.Add(actionAccount, s.deletion(id))
		actions.Add(actionNumber, s.uncount(u.Kind))
		for _, identifier := range identifiers {
			actions.Add(identifier, s.release(identifier, id))
		}
		failures, err := dynamo.Transact(ctx, s.client, actions.List())
		if err != nil {
			return fmt.Errorf("end the deletion of user %d: %w", id, err)
		}
		failed := actions.Failed(failures)
		if failures == nil || failed[actionAccount].Failed {
			return nil
		}
		identifiers = slices.DeleteFunc(identifiers, func(identifier string) bool {
			return failed[identifier].Failed // it is another account's
		})
	}
}

// deletion returns the action that deletes the item of an account whose deletion has begun.
func (s *Store) deletion(id int64) types.TransactWriteItem {
	return dynamo.DeleteItem(s.table, Key(id), expression.Name(attributeDeleting).AttributeExists())
}

// Unfinished returns the accounts whose deletion has begun but not ended. It is one consistent Scan per MB.
func (s *Store) Unfinished(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list unfinished deletions: %w", err)
		}
		if item[attributeDeleting] == nil {
			continue
		}
		var stored record
		if err := dynamo.Unmarshal(item, &stored); err != nil {
			return nil, fmt.Errorf("list unfinished deletions: %w", err)
		}
		all = append(all, stored.deleted())
	}
	return all, nil
}
