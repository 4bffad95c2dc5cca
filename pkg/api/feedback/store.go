package feedback

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// keptDays is how long a record is kept after its last update. DynamoDB deletes it then. Without it, the number of
// records would only grow, because no operation deletes any.
const keptDays = 400

// Table is the logical id of the table.
const Table = "Feedback"

// Store keeps the records in the table Feedback. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	now    func() time.Time
}

// NewStore returns a Store that uses tables.Feedback.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Store {
	return &Store{client, tables.Feedback, now}
}

// Preconditions contains the errors that an update returns instead of changing a record that exists, or creating one.
// nil: the update may do so.
type Preconditions struct{ Change, Create error }

// Update changes the record, or creates it, and returns the new record, or an error of the preconditions. It is one
// UpdateItem, with a condition if one of them is an error.
func (s *Store) Update(ctx context.Context, feedbackID string, userID int64, change Change, p Preconditions) (
	Feedback, error,
) {
	var condition *string
	switch {
	case p.Change != nil && p.Create != nil:
		return Feedback{}, p.Change
	case p.Create != nil:
		condition = aws.String("attribute_exists(userId)")
	case p.Change != nil:
		condition = aws.String("attribute_not_exists(userId)")
	}
	names := map[string]string{"#neverShow": "neverShow", "#expiresAt": "expiresAt"}
	values := dynamo.Item{
		":neverShow": dynamo.Bool(false), ":expiresAt": dynamo.N(s.now().AddDate(0, 0, keptDays).Unix()),
	}
	expression := "SET #expiresAt = :expiresAt, #neverShow = if_not_exists(#neverShow, :neverShow)"
	if change.NeverShow != nil {
		expression = "SET #expiresAt = :expiresAt, #neverShow = :neverShow"
		values[":neverShow"] = dynamo.Bool(*change.NeverShow)
	}
	if change.SetGiven {
		names["#given"] = "given"
		if change.Given == nil {
			expression += " REMOVE #given"
		} else {
			expression += ", #given = :given"
			values[":given"] = dynamo.Time(*change.Given)
		}
	}
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{"userId": dynamo.N(userID), "feedbackId": dynamo.S(feedbackID)},
		UpdateExpression: aws.String(expression), ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllNew,
	})
	if dynamo.FailedCondition(err) {
		return Feedback{}, cmp.Or(p.Change, p.Create)
	}
	if err != nil {
		return Feedback{}, fmt.Errorf("update the feedback of user %d: %w", userID, err)
	}
	item := dynamo.Item(out.Attributes)
	return Feedback{
		FeedbackID: item.String("feedbackId"), UserID: item.Int("userId"), NeverShow: item.Bool("neverShow"),
		Given: item.Time("given"),
	}, nil
}
