package user

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// MaxGroups is the maximum number of groups of which an account is a member.
const MaxGroups = 50

// attributeGroups is the attribute with the set of the ids of an account's groups. The item of a group has its members
// (package accesstable); one transaction writes both.
const attributeGroups = "groups"

// attributeClaim is the attribute with a claimRecord.
const attributeClaim = "claim"

// Accounts returns the accounts with the ids, by id. Those that do not exist are left out. It is one consistent
// BatchGetItem per 100 ids.
func (s *Store) Accounts(ctx context.Context, ids []int64) (map[int64]User, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = Key(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("get users: %w", err)
	}
	all := make(map[int64]User, len(items))
	for _, item := range items {
		if !isAccount(item) {
			continue
		}
		u, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("get users: %w", err)
		}
		all[u.ID] = u
	}
	return all, nil
}

// exists is the condition that an item is an account.
func exists() expression.ConditionBuilder { return expression.Name(attributeKind).AttributeExists() }

// Exists returns the condition of a transaction that an account exists.
func (s *Store) Exists(id int64) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, Key(id), exists())
}

// ExistsAs returns the condition of a transaction that an account of a kind exists.
func (s *Store) ExistsAs(kind Kind, id int64) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, Key(id), expression.Name(attributeKind).Equal(expression.Value(kind)))
}

// Principal returns the principal of the account, without the name and the id of a token. values are those of its groups in
// an ID token.
func (u User) Principal(directory accesstable.Directory, values []string) access.Principal {
	p := access.MemberPrincipal(u.ID, u.Role, directory.MembersGroups(u.Groups, values), directory.Roles)
	p.IsServiceAccount = u.Kind == ServiceAccount
	return p
}

// KeepsRights returns the condition of a transaction that an enabled account is still enabled, and still has its role and
// all of its groups.
func (s *Store) KeepsRights(u User) types.TransactWriteItem {
	condition := expression.Name(attributeKind).Equal(expression.Value(u.Kind)).
		And(expression.Name(attributeDisabled).Equal(expression.Value(false))).
		And(expression.Name("rootRole").Equal(expression.Value(u.Role)))
	for _, id := range u.Groups {
		condition = condition.And(expression.Name(attributeGroups).Contains(id))
	}
	if u.Claim != nil && len(u.Claim.Values) > 0 {
		condition = condition.And(expression.Name(attributeClaim + ".values").Equal(expression.Value(u.Claim.Values)))
	}
	return dynamo.CheckItem(s.table, Key(u.ID), condition)
}

// Join returns the action of a transaction that makes an account a member of a group. It fails if the account does not
// exist, or is a member of MaxGroups groups.
func (s *Store) Join(id, group int64) types.TransactWriteItem {
	groups := expression.Name(attributeGroups)
	return s.update(id, expression.NewBuilder().
		WithCondition(exists().And(groups.AttributeNotExists().Or(groups.Size().LessThan(expression.Value(MaxGroups))))).
		WithUpdate(expression.Add(groups, expression.Value(setOf(group)))))
}

// Leave returns the action of a transaction that ends the membership of an account in a group. It fails if the account
// does not exist.
func (s *Store) Leave(id, group int64) types.TransactWriteItem {
	return s.update(id, expression.NewBuilder().
		WithCondition(exists()).
		WithUpdate(expression.Delete(expression.Name(attributeGroups), expression.Value(setOf(group)))))
}

// MaxGroupsDays is the largest value of GroupsMaxAgeDays.
const MaxGroupsDays = 365

// SetClaim stores what an ID token says about the groups of a person, unless that, or what a later token says, is stored
// already. u is the person as it was read. It is one UpdateItem.
func (s *Store) SetClaim(ctx context.Context, u User, values []string, issued time.Time) error {
	issued = issued.UTC().Truncate(time.Second) // times are compared as texts
	switch {
	case u.Claim == nil && len(values) == 0,
		u.Claim != nil && u.Claim.At.After(issued),
		u.Claim != nil && u.Claim.At.Equal(issued) && slices.Equal(u.Claim.Values, values):
		return nil
	}
	at := expression.Name(attributeClaim + ".at")
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(exists().And(at.AttributeNotExists().Or(at.LessThanEqual(expression.Value(issued))))).
		WithUpdate(expression.Set(expression.Name(attributeClaim), expression.Value(claimRecord{values, issued}))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       Key(u.ID),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("store the groups of user %d: %w", u.ID, err)
	}
	return nil
}

// KeepClaim replaces what ID tokens say about groups in the stored form of a person by what they say in another one, which
// may be nil.
func KeepClaim(item, other dynamo.Item) {
	delete(item, attributeClaim)
	if claim := other[attributeClaim]; claim != nil {
		item[attributeClaim] = claim
	}
}

// setOf returns a set of one number.
func setOf(n int64) *types.AttributeValueMemberNS {
	return &types.AttributeValueMemberNS{Value: []string{strconv.FormatInt(n, 10)}}
}
