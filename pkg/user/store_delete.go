package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// BeginDeletion makes a service account unusable and returns it: from then on its tokens are rejected, it is not listed, and it cannot be
// changed. If a deletion has begun but not ended, BeginDeletion returns the account again. Otherwise the error is ErrNotFound. It is one
// UpdateItem.
func (s *Store) BeginDeletion(ctx context.Context, id int64) (User, error) {
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(id),
		ConditionExpression: aws.String("#kind = :kind OR (attribute_exists(#pats) AND attribute_not_exists(#kind))"),
		UpdateExpression:    aws.String("SET #disabled = :true REMOVE #kind"),
		ExpressionAttributeNames: map[string]string{
			"#kind": attributeKind, "#pats": AttributePATs, "#disabled": "disabled",
		},
		ExpressionAttributeValues: dynamo.Item{":kind": dynamo.S(string(ServiceAccount)), ":true": dynamo.Bool(true)},
		ReturnValues:              types.ReturnValueAllNew,
	})
	if dynamo.FailedCondition(err) {
		return User{}, ErrNotFound
	}
	if err != nil {
		return User{}, fmt.Errorf("begin the deletion of user %d: %w", id, err)
	}
	u := FromItem(out.Attributes)
	u.Kind = ServiceAccount
	return u, nil
}

// EndDeletion returns the actions of a transaction that delete an account that BeginDeletion returned, and the reservation of its username.
// They succeed if a concurrent call has deleted both. Only the last action, on the reservation, can fail: if a concurrent call has deleted
// both, and another account has the username since then.
func (s *Store) EndDeletion(u User) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.table, Key: Key(u.ID),
			ConditionExpression:      aws.String("attribute_not_exists(#kind)"),
			ExpressionAttributeNames: map[string]string{"#kind": attributeKind},
		}},
		s.release(u.uniqueName(), u.ID),
	}
}

// Unfinished returns the accounts whose deletion has begun but not ended. It is one consistent Scan per MB.
func (s *Store) Unfinished(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list unfinished deletions: %w", err)
		}
		if item[AttributePATs] != nil && !isAccount(item) {
			all = append(all, FromItem(item))
		}
	}
	return all, nil
}
