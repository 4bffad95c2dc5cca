package savedview

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
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the views in the table Access. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store on the table Access.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[accesstable.Table]}
}

// The attributes of an item besides its key.
const (
	attributeViews  = "views"
	attributeNumber = "number" // of replacements so far
	viewName        = "name"
	viewQuery       = "query"
)

func key(account int64) dynamo.Item {
	return accesstable.Key(accesstable.KindSavedViews, strconv.FormatInt(account, 10))
}

// Get returns the views of the caller, who has an account, in the order of their names. It is one consistent read.
func (s *Store) Get(ctx context.Context) ([]View, error) {
	views, _, err := s.get(ctx)
	return views, err
}

// get is Get. It also returns the number of replacements so far.
func (s *Store) get(ctx context.Context) (views []View, number int64, err error) {
	account := access.PrincipalFrom(ctx).UserID
	item, err := dynamo.Get(ctx, s.client, s.table, key(account))
	if err != nil {
		return nil, 0, fmt.Errorf("get the saved views of user %d: %w", account, err)
	}
	for _, v := range item.Maps(attributeViews) {
		views = append(views, View{v.String(viewName), v.String(viewQuery)})
	}
	return views, item.Int(attributeNumber), nil
}

// Replace stores views instead of those of the caller, who has an account. Its error is that of precondition, which
// receives the views that are replaced. If they are the same, nothing changes, whatever the precondition: a request that
// is repeated because its response was lost succeeds.
func (s *Store) Replace(ctx context.Context, views []View, precondition func(old []View) error) error {
	views = newList(views).Views
	return dynamo.Retry(ctx, func() (bool, error) { return s.tryReplace(ctx, views, precondition) })
}

// tryReplace is one attempt of Replace. It returns false if the views were changed concurrently.
func (s *Store) tryReplace(
	ctx context.Context, views []View, precondition func(old []View) error,
) (done bool, err error) {
	old, number, err := s.get(ctx)
	if err != nil || slices.Equal(old, views) {
		return true, err
	}
	if err := precondition(old); err != nil {
		return false, err
	}
	account := access.PrincipalFrom(ctx).UserID
	item := key(account)
	list := make([]dynamo.Item, len(views))
	for i, v := range views {
		list[i] = dynamo.Item{viewName: dynamo.S(v.Name), viewQuery: dynamo.S(v.Query)}
	}
	item[attributeViews], item[attributeNumber] = dynamo.Maps(list), dynamo.N(number+1)
	unchanged := expression.Name(attributeNumber).AttributeNotExists()
	if number != 0 {
		unchanged = expression.Name(attributeNumber).Equal(expression.Value(number))
	}
	// Unlike a PutItem, a transaction that is repeated because its response was lost does not fail.
	failures, err := dynamo.Transact(ctx, s.client,
		[]types.TransactWriteItem{dynamo.ReplaceItem(s.table, item, unchanged)})
	if err != nil {
		return false, fmt.Errorf("replace the saved views of user %d: %w", account, err)
	}
	return failures == nil, nil
}

// DeleteAccount deletes the views of an account that is being deleted. It needs no condition: the account cannot be used
// any more.
func (s *Store) DeleteAccount(ctx context.Context, account int64) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: key(account)})
	if err != nil {
		return fmt.Errorf("delete the saved views of user %d: %w", account, err)
	}
	return nil
}
