package authorizer

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Store reads credentials and their users from DynamoDB. It is safe for concurrent use.
type Store struct {
	client    *dynamodb.Client
	table     string // PersonalAccessTokens
	pats      *pat.Store
	apiTokens *apitoken.Store
	users     *user.Store
}

// NewStore makes a store on the tables PersonalAccessTokens, Users and ApiTokens.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{
		client: client, table: tables.PersonalAccessTokens,
		pats:      pat.NewStore(client, tables, nil), // creates no tokens
		apiTokens: apitoken.NewStore(client, tables),
		users:     user.NewStore(client, tables),
	}
}

// APIToken returns an API token or apitoken.ErrNotFound. It is one GetItem.
func (s *Store) APIToken(ctx context.Context, selector auth.Selector) (apitoken.APIToken, error) {
	return s.apiTokens.Get(ctx, selector)
}

// PAT returns a PAT and its owner, or pat.ErrNotFound, or user.ErrNotFound. It is one BatchGetItem.
func (s *Store) PAT(ctx context.Context, userID, id int64) (pat.PAT, user.User, error) {
	return s.pats.Get(ctx, userID, id)
}

// SignIn returns the person with an identity, as user.Store.SignIn describes it.
func (s *Store) SignIn(ctx context.Context, in user.SignIn) (user.User, error) {
	return s.users.SignIn(ctx, in)
}

// Seen sets a PAT's seenAt to now if the PAT exists and its seenAt is missing or earlier than before. Otherwise it does nothing: another
// request was faster, or the PAT is deleted.
func (s *Store) Seen(ctx context.Context, userID, id int64, now, before time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: pat.Key(userID, id),
		ConditionExpression:       aws.String("attribute_exists(#id) AND (attribute_not_exists(#seenAt) OR #seenAt < :before)"),
		UpdateExpression:          aws.String("SET #seenAt = :now"),
		ExpressionAttributeNames:  map[string]string{"#id": "id", "#seenAt": pat.AttributeSeenAt},
		ExpressionAttributeValues: dynamo.Item{":now": dynamo.Time(now), ":before": dynamo.Time(before)},
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("set seenAt of PAT %d: %w", id, err)
	}
	return nil
}
