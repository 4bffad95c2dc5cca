package authorizer

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Store reads credentials and their users from DynamoDB. It is safe for concurrent use.
type Store struct {
	client    *dynamodb.Client
	tables    dynamo.Tables
	pats      *pat.Store
	apiTokens *apitoken.Store
	users     *user.Store
	trusts    *trust.Store
}

// NewStore makes a store on the tables PersonalAccessTokens, Users, Access, Identifiers and ApiTokens. People who sign
// in are recorded in log.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client: client, tables: tables,
		pats:      pat.NewStore(client, tables, nil, nil), // only reads
		apiTokens: apitoken.NewStore(client, tables, nil),
		users:     user.NewStore(client, tables, log),
		trusts:    trust.NewStore(client, tables, nil),
	}
}

// Seen sets the seenAt of a token to now if the token exists and its seenAt is missing or earlier than before.
// Otherwise another request has set it, or the token is deleted, and it does nothing.
func (s *Store) Seen(ctx context.Context, token access.Token, now, before time.Time) error {
	table, key := s.tables[apitoken.Table], apitoken.Key(token.Selector)
	if userID, id, ok := token.Selector.PATIDs(); ok && token.Kind == access.PAT {
		table, key = s.tables[pat.Table], pat.Key(userID, id)
	}
	seenAt := expression.Name(pat.AttributeSeenAt)
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name("id").AttributeExists().And(
			seenAt.AttributeNotExists().Or(seenAt.LessThan(expression.Value(datetime.Format(before)))))).
		WithUpdate(expression.Set(seenAt, expression.Value(datetime.Format(now)))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       key,
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("set seenAt: %w", err)
	}
	return nil
}
