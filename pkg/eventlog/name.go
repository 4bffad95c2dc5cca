package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/jsonbody"
)

// RemoveName replaces a person's name and e-mail address by PersonSubject: the name of the actor in the events
// that the person caused, and both in the data of the events about the person. It calls begin before the first change,
// and returns the number of events that it changed. A repeated call changes the rest. No other method changes events.
// It reads the whole log, because only reads of the table are consistent: the index can lack the newest events.
func (r *Reader) RemoveName(ctx context.Context, userID int64, begin func() error) (changed int, err error) {
	err = r.All(ctx, Filter{}, func(e Event) error {
		next, err := withoutName(e, userID)
		if err != nil || len(next) == 0 {
			return err
		}
		if changed == 0 {
			if err := begin(); err != nil {
				return err
			}
		}
		if err := r.replace(ctx, e.ID, next); err != nil {
			return err
		}
		changed++
		return nil
	})
	if err != nil {
		return changed, fmt.Errorf("remove the name of user %d: %w", userID, err)
	}
	return changed, nil
}

// withoutName returns the attributes that change: names of attributes → new values.
func withoutName(e Event, userID int64) (map[string]string, error) {
	subject, next := PersonSubject(userID), map[string]string{}
	if e.By.UserID == userID && e.By.Name != string(subject) {
		next[AttributeCreatedBy] = string(subject)
	}
	if e.Subject == subject {
		for attribute, data := range map[string]json.RawMessage{
			AttributeData: e.Data, AttributePreData: e.PreData,
		} {
			properties, err := Properties(data)
			if err != nil {
				return nil, err
			}
			replaced := false
			for _, name := range []string{"name", "email"} {
				if value, ok := properties[name]; ok && value != string(subject) {
					properties[name], replaced = string(subject), true
				}
			}
			if replaced {
				text, err := jsonbody.Encode(properties)
				if err != nil {
					return nil, err
				}
				next[attribute] = string(text)
			}
		}
	}
	return next, nil
}

// replace sets attributes of an event, unless its time to live has deleted it.
func (r *Reader) replace(ctx context.Context, id int64, next map[string]string) error {
	var update expression.UpdateBuilder
	for _, attribute := range slices.Sorted(maps.Keys(next)) {
		update = update.Set(expression.Name(attribute), expression.Value(next[attribute]))
	}
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name(AttributeID).AttributeExists()).
		WithUpdate(update))
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &r.table,
		Key:                       Key(id),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}
