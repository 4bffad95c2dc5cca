package pat

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// perTransaction is the number of tokens that one transaction of DeleteOwner deletes. A transaction has at most 100
// actions, two per token.
const perTransaction = 50

// DeleteOwner deletes an account of the kind, its tokens, trusts, memberships, roles, favorites, saved views and
// identifiers, and records each of them but the favorites and views. After the first transaction the account, its
// tokens and its trusts are unusable. The second one deletes up to 50 tokens, further ones the other tokens and the
// trusts, and the last one the account. After an error or a crash, a repeated DeleteOwner ends the deletion. The kind
// of its error is NotFound if there is no such account, and Conflict for the last enabled Admin and for the last Owner
// of a protected or private project, unless force is true.
func (s *Store) DeleteOwner(ctx context.Context, kind user.Kind, id int64, force bool) error {
	keep := s.keep
	if force {
		keep = nil
	}
	owner, err := s.accounts.BeginDeletion(ctx, kind, id, keep)
	if err != nil {
		return err
	}
	for left := true; left; {
		err := s.log.RetryTransact(ctx, func() (actions []types.TransactWriteItem, err error) {
			tokens, err := s.ListOf(ctx, id) // all of them: from now on no token is added
			left = len(tokens) > 0
			for _, p := range tokens[:min(len(tokens), perTransaction)] {
				deletion, err := s.deletion(ctx, p, kind)
				if err != nil {
					return nil, err
				}
				actions = append(actions, deletion...)
			}
			return actions, err
		}, nil)
		if err != nil {
			return fmt.Errorf("delete the tokens of user %d: %w", id, err)
		}
	}
	if kind == user.ServiceAccount {
		if err := s.trusts.RemoveAccount(ctx, id); err != nil {
			return err
		}
	}
	if err := s.groups.RemoveAccount(ctx, owner); err != nil {
		return err
	}
	if err := s.favorites.DeleteAccount(ctx, id); err != nil {
		return err
	}
	if err := s.views.DeleteAccount(ctx, id); err != nil {
		return err
	}
	return s.accounts.EndDeletion(ctx, id)
}

// keep adds the conditions under which an enabled Admin and the Owners of projects remain when an account is deleted.
func (s *Store) keep(ctx context.Context, actions *dynamo.Actions, u user.User) error {
	if err := s.accounts.KeepAdmin(ctx, actions, u); err != nil {
		return err
	}
	return s.owners.Keep(ctx, actions, ownership.Change{Account: u.ID})
}

// deletion returns the actions that delete a token that has not changed, and record it. They do not change its owner.
func (s *Store) deletion(ctx context.Context, p PAT, kind user.Kind) ([]types.TransactWriteItem, error) {
	_, deleted := eventTypes(kind)
	_, event, err := s.log.RecordActions(ctx, p.change(deleted, nil, p.eventData()))
	deletion := dynamo.DeleteItem(s.pats, Key(p.UserID, p.ID), eventlog.ExistsWithLast(hash, p.LastEvent))
	return append([]types.TransactWriteItem{deletion}, event...), err
}

// DeleteUnlisted deletes a token that its owner does not list, such as after a restore that has not ended. If the token
// changes at the same time, DeleteUnlisted does nothing.
func (s *Store) DeleteUnlisted(ctx context.Context, p PAT) error {
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) { return s.deletion(ctx, p, AnyKind) })
	if err != nil {
		return fmt.Errorf("delete PAT %d: %w", p.ID, err)
	}
	return nil
}
