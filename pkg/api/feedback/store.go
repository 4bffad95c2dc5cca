package feedback

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Feedback"

// Store keeps the records in the table Feedback. Nothing deletes them: a user who asked never to see a questionnaire
// again must not see it again. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// key is the key of an item.
type key struct {
	UserID     int64  `dynamodbav:"userId"`
	FeedbackID string `dynamodbav:"feedbackId"`
}

// record is an item.
type record struct {
	key
	NeverShow bool       `dynamodbav:"neverShow"`
	Given     *time.Time `dynamodbav:"given,omitempty"`
}

// NewStore returns a Store that uses the table Feedback.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[Table]}
}

// Preconditions contains the errors that an update returns instead of changing a record that exists, or creating one.
// nil: the update may do so.
type Preconditions struct{ Change, Create error }

// Update changes the record, or creates it, and returns the new record, or an error of the preconditions. It is one
// UpdateItem, with a condition if one of them is an error.
func (s *Store) Update(ctx context.Context, feedbackID string, userID int64, change Change, p Preconditions) (
	Feedback, error,
) {
	update := expression.Set(expression.Name("neverShow"), change.neverShow())
	if change.SetGiven && change.Given == nil {
		update = update.Remove(expression.Name("given"))
	} else if change.SetGiven {
		update = update.Set(expression.Name("given"), expression.Value(datetime.Format(*change.Given)))
	}
	builder := expression.NewBuilder().WithUpdate(update)
	switch {
	case p.Change != nil && p.Create != nil:
		return Feedback{}, p.Change
	case p.Create != nil:
		builder = builder.WithCondition(expression.AttributeExists(expression.Name("userId")))
	case p.Change != nil:
		builder = builder.WithCondition(expression.AttributeNotExists(expression.Name("userId")))
	}
	expr := dynamo.Build(builder)
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       dynamo.Marshal(key{userID, feedbackID}),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
		ReturnValues:              types.ReturnValueAllNew,
	})
	if dynamo.FailedCondition(err) {
		return Feedback{}, cmp.Or(p.Change, p.Create)
	}
	if err != nil {
		return Feedback{}, fmt.Errorf("update the feedback of user %d: %w", userID, err)
	}
	var stored record
	if err := dynamo.Unmarshal(out.Attributes, &stored); err != nil {
		return Feedback{}, err
	}
	return Feedback{
		FeedbackID: stored.FeedbackID,
		UserID:     stored.UserID,
		NeverShow:  stored.NeverShow,
		Given:      stored.Given,
	}, nil
}

// neverShow returns the value to store: that of the change, otherwise the stored one, otherwise false.
func (c Change) neverShow() expression.OperandBuilder {
	if c.NeverShow != nil {
		return expression.Value(*c.NeverShow)
	}
	return expression.IfNotExists(expression.Name("neverShow"), expression.Value(false))
}
