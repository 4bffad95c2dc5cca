package user

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// attributeDeleting replaces the attribute kind when the deletion of an account begins.
const attributeDeleting = "deleting"

// BeginDeletion makes an account of the kind unusable and returns it: from then on its tokens are rejected, its identity finds nobody, it is
// not listed, and it cannot be changed. If a deletion has begun but not ended, BeginDeletion returns the account again. Otherwise the error is
// ErrNotFound. It is one UpdateItem.
func (s *Store) BeginDeletion(ctx context.Context, kind Kind, id int64) (User, error) {
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(id),
		ConditionExpression: aws.String("#kind = :kind OR #deleting = :kind"),
		UpdateExpression:    aws.String("SET #disabled = :true, #deleting = :kind REMOVE #kind"),
		ExpressionAttributeNames: map[string]string{
			"#kind": attributeKind, "#deleting": attributeDeleting, "#disabled": "disabled",
		},
		ExpressionAttributeValues: dynamo.Item{":kind": dynamo.S(string(kind)), ":true": dynamo.Bool(true)},
		ReturnValues:              types.ReturnValueAllNew,
	})
	if dynamo.FailedCondition(err) {
		return User{}, ErrNotFound
	}
	if err != nil {
		return User{}, fmt.Errorf("begin the deletion of user %d: %w", id, err)
	}
	return deleted(out.Attributes), nil
}

// deleted returns the account that an item contains whose deletion has begun.
func deleted(item dynamo.Item) User {
	u := FromItem(item)
	u.Kind = Kind(item.String(attributeDeleting))
	return u
}

// EndDeletion deletes an account that BeginDeletion returned, and the reservation of its unique name and the link of its identity unless they
// are another account's. It subtracts a service account from their number, once, also if calls are concurrent. It is one transaction with the
// actions, which have no conditions. It succeeds if a concurrent call has deleted the account.
func (s *Store) EndDeletion(ctx context.Context, u User, actions []types.TransactWriteItem) error {
	names := u.identifiers()
	if u.Kind == ServiceAccount {
		actions = append(slices.Clip(actions), s.countAccount(-1))
	}
	for {
		all := append(slices.Clip(actions), s.removal(u))
		for _, name := range names {
			all = append(all, s.release(name, u.ID))
		}
		failures, err := dynamo.Transact(ctx, s.client, all)
		if err != nil {
			return fmt.Errorf("end the deletion of user %d: %w", u.ID, err)
		}
		if failures == nil {
			return nil
		}
		if failures[len(actions)].Failed { // a sign-in or an operator linked an identity at the same time
			if u, err = s.BeginDeletion(ctx, u.Kind, u.ID); errors.Is(err, ErrNotFound) {
				return nil
			} else if err != nil {
				return err
			}
			names = u.identifiers()
			continue
		}
		var own []string
		for i, failure := range failures[len(actions)+1:] {
			if !failure.Failed {
				own = append(own, names[i])
			}
		}
		names = own
	}
}

// removal returns the action that deletes the item of an account whose deletion has begun. It fails if a concurrent call
// has deleted it, so that it is counted once, or if it has another identity than u, because setIdentity may change it
// until the item is deleted.
func (s *Store) removal(u User) types.TransactWriteItem {
	condition, values := "attribute_exists(#id) AND attribute_not_exists(#kind) AND attribute_not_exists(#identity)", dynamo.Item(nil)
	if u.Identity != nil {
		condition = "attribute_exists(#id) AND attribute_not_exists(#kind) AND (attribute_not_exists(#identity) OR #identity = :identity)"
		values = dynamo.Item{":identity": identityValue(*u.Identity)}
	}
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: Key(u.ID), ConditionExpression: &condition,
		ExpressionAttributeNames:  map[string]string{"#id": hash, "#kind": attributeKind, "#identity": attributeIdentity},
		ExpressionAttributeValues: values,
	}}
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
