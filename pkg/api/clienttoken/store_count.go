package clienttoken

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/jsonbody"
)

// countKey is the key of the item with the number of all tokens, and their size in the list.
const countKey = "#count"

// The attributes of the item.
const (
	attributeTokens = "tokens"
	attributeBytes  = "bytes"
)

// maxList is the size limit of the list of all tokens, in bytes. Lambda's limit of a response is 6 MB. The rest is for
// the times of expiry and use, which do not count: at most 60 bytes for each token.
const maxList = 5_500_000

func (s *Store) countKey() dynamo.Item { return dynamo.Item{clienttokentable.Hash: dynamo.S(countKey)} }

// sizeInList returns the size of a token in the list of all tokens. It is the same as long as the token exists.
func sizeInList(t clienttokentable.Token) (int, error) {
	t.ExpiresAt, t.SeenAt = nil, nil
	size, err := jsonbody.SizeInResponse(newResponse(t))
	if err != nil {
		return 0, fmt.Errorf("measure a client token: %w", err)
	}
	return size, nil
}

// count returns the action that counts a new token. It fails if there are limit tokens, or if the list would be too
// large.
func (s *Store) count(t clienttokentable.Token, limit int) (types.TransactWriteItem, error) {
	size, err := sizeInList(t)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	tokens, bytes := expression.Name(attributeTokens), expression.Name(attributeBytes)
	hasRoom := tokens.LessThan(expression.Value(limit)).And(bytes.LessThanEqual(expression.Value(maxList - size)))
	return s.addToCount(1, size, expression.NewBuilder().WithCondition(tokens.AttributeNotExists().Or(hasRoom))), nil
}

// uncount returns the action that counts the deletion of a token. It has no condition: a wrong count, which Check
// corrects, must not prevent that a token is revoked.
func (s *Store) uncount(t clienttokentable.Token) (types.TransactWriteItem, error) {
	size, err := sizeInList(t)
	return s.addToCount(-1, -size, expression.NewBuilder()), err
}

func (s *Store) addToCount(tokens, bytes int, builder expression.Builder) types.TransactWriteItem {
	expr := dynamo.Build(builder.WithUpdate(
		expression.Add(expression.Name(attributeTokens), expression.Value(tokens)).
			Add(expression.Name(attributeBytes), expression.Value(bytes))))
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           &s.table,
		Key:                                 s.countKey(),
		ConditionExpression:                 expr.Condition(),
		UpdateExpression:                    expr.Update(),
		ExpressionAttributeNames:            expr.Names(),
		ExpressionAttributeValues:           expr.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// tooMany returns the error if the count does not permit another token.
func tooMany(count dynamo.Item, limit int) error {
	if count.Int(attributeTokens) >= int64(limit) {
		return apierror.Errorf(apierror.NoAccess, "The maximum number of client tokens (%d), including expired ones, is "+
			"reached. Delete one first.", limit)
	}
	return apierror.Errorf(apierror.NoAccess,
		"The list of all client tokens may have at most %d bytes. Delete tokens with many projects first.", maxList)
}

// Check compares the count of all tokens with the tokens. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	stored, err := dynamo.Get(ctx, s.client, s.table, s.countKey())
	if err != nil {
		return "", nil, fmt.Errorf("read the count of client tokens: %w", err)
	}
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	bytes := 0
	for _, t := range all {
		size, err := sizeInList(t)
		if err != nil {
			return "", nil, err
		}
		bytes += size
	}
	for _, c := range []struct {
		attribute, name string
		want            int
	}{{attributeTokens, "number", len(all)}, {attributeBytes, "size", bytes}} {
		if got := stored.Int(c.attribute); got != int64(c.want) {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the %s of all client tokens is %d, and %d is stored", c.name, c.want, got),
				Repair: dynamo.ReplaceAttribute(s.client, s.table, s.countKey(), []string{c.attribute}, stored[c.attribute],
					dynamo.N(int64(c.want))),
			})
		}
	}
	return fmt.Sprintf("%d, as counted", len(all)), found, nil
}
