package feedback

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the records in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ Updater = (*Store)(nil)

// NewStore makes a store on the table Feedback.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.Feedback}
}

// Update implements Updater by one UpdateItem without a condition: it is the contract's wish that a record is made where none is.
func (s *Store) Update(ctx context.Context, feedbackID string, userID int64, change Change) (Feedback, error) {
	input := &dynamodb.UpdateItemInput{
		TableName:                &s.table,
		Key:                      dynamo.Item{"userId": dynamo.N(userID), "feedbackId": dynamo.S(feedbackID)},
		ExpressionAttributeNames: map[string]string{"#neverShow": "neverShow"},
		ReturnValues:             types.ReturnValueAllNew,
	}
	expression, values := "SET #neverShow = if_not_exists(#neverShow, :neverShow)", dynamo.Item{":neverShow": dynamo.Bool(false)}
	if change.NeverShow != nil {
		expression, values[":neverShow"] = "SET #neverShow = :neverShow", dynamo.Bool(*change.NeverShow)
	}
	if change.SetGiven {
		input.ExpressionAttributeNames["#given"] = "given"
		if change.Given == nil {
			expression += " REMOVE #given"
		} else {
			expression += ", #given = :given"
			values[":given"] = dynamo.Time(*change.Given)
		}
	}
	input.UpdateExpression, input.ExpressionAttributeValues = aws.String(expression), values
	out, err := s.client.UpdateItem(ctx, input)
	if err != nil {
		return Feedback{}, fmt.Errorf("update the feedback of user %d: %w", userID, err)
	}
	item := dynamo.Item(out.Attributes)
	return Feedback{
		FeedbackID: item.String("feedbackId"), UserID: item.Int("userId"), NeverShow: item.Bool("neverShow"), Given: item.Time("given"),
	}, nil
}
