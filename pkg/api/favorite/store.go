package favorite

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the favorites in the table Access. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store on the table Access.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[accesstable.Table]}
}

func key(account int64) dynamo.Item {
	return accesstable.Key(accesstable.KindFavorites, strconv.FormatInt(account, 10))
}

// Get returns the favorites of the caller. It is one consistent read, or none for a caller without an account.
func (s *Store) Get(ctx context.Context) (Favorites, error) {
	account := access.PrincipalFrom(ctx).UserID
	if account == 0 {
		return Favorites{}, nil
	}
	item, err := dynamo.Get(ctx, s.client, s.table, key(account))
	if err != nil {
		return Favorites{}, fmt.Errorf("get the favorites of user %d: %w", account, err)
	}
	f := Favorites{map[string][]string{}}
	for _, name := range []string{setFeatures, setProjects} {
		if set, ok := item[name].(*types.AttributeValueMemberSS); ok {
			f.sets[name] = slices.Sorted(slices.Values(set.Value))
		}
	}
	return f, nil
}

// Add adds a favorite of the caller, who has an account. The kind of its error is Validation if the limit is reached. If it
// is one already, nothing changes.
func (s *Store) Add(ctx context.Context, f Favorite) error {
	set := expression.Name(f.set)
	err := s.update(ctx, expression.NewBuilder().
		WithUpdate(expression.Add(set, f.value())).
		WithCondition(set.AttributeNotExists().
			Or(set.Size().LessThan(expression.Value(Limit)), set.Contains(f.element))))
	if dynamo.FailedCondition(err) {
		return apierror.Errorf(apierror.Validation, "The maximum number of favorites (%d) is reached. Remove one first.", Limit)
	}
	return err
}

// Remove removes a favorite of the caller, who has an account. It needs no condition: if it is none, nothing changes.
func (s *Store) Remove(ctx context.Context, f Favorite) error {
	return s.update(ctx, expression.NewBuilder().WithUpdate(expression.Delete(expression.Name(f.set), f.value())))
}

func (f Favorite) value() expression.ValueBuilder {
	return expression.Value(&types.AttributeValueMemberSS{Value: []string{f.element}})
}

func (s *Store) update(ctx context.Context, builder expression.Builder) error {
	account, expr := access.PrincipalFrom(ctx).UserID, dynamo.Build(builder)
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       key(account),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil {
		return fmt.Errorf("change the favorites of user %d: %w", account, err)
	}
	return nil
}

// DeleteAccount deletes the favorites of an account that is being deleted. It needs no condition: the account cannot be
// used any more.
func (s *Store) DeleteAccount(ctx context.Context, account int64) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: key(account)})
	if err != nil {
		return fmt.Errorf("delete the favorites of user %d: %w", account, err)
	}
	return nil
}
