package usagemerger

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
)

// Merger computes usage. It is safe for concurrent use: a sweep waits for the one before.
type Merger struct {
	client  *dynamodb.Client
	table   string // Usage
	toggles string // Features
	traffic *traffic.Store
	now     func() time.Time
	logger  *slog.Logger

	mu sync.Mutex
	// What the process knows to be stored, so that it does not write it again.
	merged       time.Time // the last hour that has a marker
	requests     map[pathAndHour]usage.Statuses
	applications map[string]usagetable.Application // by name; nil: not read yet
	lastSeen     map[string]featuretable.Seen      // by the name of the toggle
}

// New returns a merger of the tables Usage, Traffic and Features.
func New(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time, logger *slog.Logger) *Merger {
	return &Merger{
		client:   client,
		table:    tables[usagetable.Table],
		toggles:  tables[featuretable.Table],
		traffic:  traffic.NewStore(client, tables),
		now:      now,
		logger:   logger,
		requests: map[pathAndHour]usage.Statuses{},
		lastSeen: map[string]featuretable.Seen{},
	}
}

// put stores an item that replaces the stored one. No other condition is needed, because each sweep computes the whole
// item. put leaves out an item that DynamoDB rejects, and reports whether the item is stored.
func (s *sweep) put(ctx context.Context, item dynamo.Item) (stored bool, err error) {
	return s.accepted(s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item}))
}

// putRecord is put for a record that was computed from parts with a number of writes. A record that was computed from
// more writes stays stored.
func (s *sweep) putRecord(ctx context.Context, item dynamo.Item, writes int64) (stored bool, err error) {
	item[usagetable.AttributeWrites] = dynamo.N(writes)
	attribute := expression.Name(usagetable.AttributeWrites)
	expr := dynamo.Build(expression.NewBuilder().WithCondition(
		attribute.AttributeNotExists().Or(attribute.LessThanEqual(expression.Value(writes)))))
	out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &s.table,
		Item:                      item,
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return true, nil
	}
	return s.accepted(out, err)
}

// accepted returns the result of a write. It leaves out what DynamoDB rejects.
func (s *sweep) accepted(_ *dynamodb.PutItemOutput, err error) (stored bool, _ error) {
	if dynamo.Invalid(err) {
		s.leaveOut(err)
		return false, nil
	}
	return err == nil, err
}

// delete deletes an item, if it exists.
func (s *sweep) delete(ctx context.Context, key dynamo.Item) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: key})
	return err
}

// deleteLate deletes the note that an hour must be merged again, unless it has got another part since the note was
// read.
func (s *sweep) deleteLate(ctx context.Context, l usagetable.Late) error {
	expr := dynamo.Build(expression.NewBuilder().WithCondition(expression.Name("id").Equal(expression.Value(l.ID))))
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       usagetable.LateKey(l.Hour),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}
