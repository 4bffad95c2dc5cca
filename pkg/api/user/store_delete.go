package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// attributeDeleting replaces the attribute kind when the deletion of an account begins.
const attributeDeleting = "deleting"

// BeginDeletion makes an account of the kind unusable and records its deletion: from then on its tokens and its
// identity are rejected, it is not listed, and it cannot be changed. If a deletion has begun but not ended,
// BeginDeletion does nothing. The kind of its error is NotFound if there is no such account. It is one consistent read and one transaction.
func (s *Store) BeginDeletion(ctx context.Context, kind Kind, id int64) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
		if err != nil || deleted(item).Kind == kind {
			return nil, err
		}
		u := FromItem(item)
		if u.Kind != kind {
			return nil, notFound(kind, id)
		}
		event, record, err := s.log.RecordActions(ctx, u.deletion())
		names := map[string]string{"#kind": attributeKind, "#deleting": attributeDeleting, "#disabled": "disabled"}
		values := dynamo.Item{":kind": dynamo.S(string(kind)), ":true": dynamo.Bool(true)}
		condition, assignment := eventlog.Guard(u.LastEvent, event, names, values)
		return append([]types.TransactWriteItem{{Update: &types.Update{
			TableName: &s.table, Key: Key(id), ConditionExpression: aws.String("#kind = :kind AND " + condition),
			UpdateExpression:         aws.String("SET #disabled = :true, #deleting = :kind, " + assignment + " REMOVE #kind"),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}}, record...), err
	}, nil)
	if err != nil {
		return fmt.Errorf("begin the deletion of user %d: %w", id, err)
	}
	return nil
}

// deleted returns the account that an item contains whose deletion has begun. If none has, the account has no kind.
func deleted(item dynamo.Item) User {
	u := FromItem(item)
	u.Kind = Kind(item.String(attributeDeleting))
	return u
}

// EndDeletion deletes the item of an account whose deletion has begun, and the reservation of its unique name and the
// link of its identity unless they are another account's. It subtracts a service account from their number, once, even
// if calls are concurrent. It does nothing if no deletion has begun, or if a concurrent call has ended it. It is one
// consistent read and one transaction. The tokens must be deleted before.
func (s *Store) EndDeletion(ctx context.Context, id int64) error {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return fmt.Errorf("get user %d: %w", id, err)
	}
	u := deleted(item)
	if u.Kind == "" {
		return nil
	}
	// Since BeginDeletion the account has not changed: all writes have a condition on its kind or its last event.
	actions := []types.TransactWriteItem{accountAction: {Delete: &types.Delete{
		TableName: &s.table, Key: Key(id), ConditionExpression: aws.String("attribute_exists(#deleting)"),
		ExpressionAttributeNames: map[string]string{"#deleting": attributeDeleting},
	}}}
	if u.Kind == ServiceAccount {
		actions = append(actions, s.countAccount(-1))
	}
	for _, name := range u.identifiers() {
		actions = append(actions, s.release(name, id))
	}
	for {
		failures, err := dynamo.Transact(ctx, s.client, actions)
		if err != nil {
			return fmt.Errorf("end the deletion of user %d: %w", id, err)
		}
		if failures == nil || failures[accountAction].Failed {
			return nil
		}
		var own []types.TransactWriteItem // without the identifiers that are another account's
		for i, failure := range failures {
			if !failure.Failed {
				own = append(own, actions[i])
			}
		}
		actions = own
	}
}

// Unfinished returns the accounts whose deletion has begun but not ended. It is one consistent Scan per MB.
func (s *Store) Unfinished(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list unfinished deletions: %w", err)
		}
		if item[attributeDeleting] != nil {
			all = append(all, deleted(item))
		}
	}
	return all, nil
}
