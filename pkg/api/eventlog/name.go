package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// PersonSubject returns the subject of the events about a person.
func PersonSubject(id int64) Subject { return Subject("user:" + strconv.FormatInt(id, 10)) }

// RemoveName replaces a person's name and e-mail address by PersonSubject: the name of the actor in the events that the
// person caused, and both in the data of the events about the person. It calls begin before the first change, and
// returns the number of events that it changed. A repeated call changes the rest. No other method changes events. It
// reads the whole log, because only reads of the table are consistent: the index can lack the newest events.
func (l *Log) RemoveName(ctx context.Context, userID int64, begin func() error) (changed int, err error) {
	err = l.All(ctx, Filter{}, func(e Event) error {
		next, err := e.withoutName(userID)
		if err != nil || len(next) == 0 {
			return err
		}
		if changed == 0 {
			if err := begin(); err != nil {
				return err
			}
		}
		if err := l.replace(ctx, e.ID, next); err != nil {
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
func (e Event) withoutName(userID int64) (map[string]string, error) {
	subject, next := PersonSubject(userID), map[string]string{}
	if e.By.UserID == userID && e.By.Name != string(subject) {
		next[attributeBy] = string(subject)
	}
	if e.Subject == subject {
		for attribute, data := range map[string]json.RawMessage{attributeData: e.Data, attributePreData: e.PreData} {
			m := map[string]any{}
			if err := decode(data, &m); err != nil {
				return nil, err
			}
			replaced := false
			for _, member := range []string{"name", "email"} {
				if value, ok := m[member]; ok && value != string(subject) {
					m[member], replaced = string(subject), true
				}
			}
			if replaced {
				text, err := encode(m)
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
func (l *Log) replace(ctx context.Context, id int64, next map[string]string) error {
	update, names, values := "", map[string]string{"#id": attributeID}, dynamo.Item{}
	for attribute, text := range next {
		separator := ", "
		if update == "" {
			separator = "SET "
		}
		update += separator + "#" + attribute + " = :" + attribute
		names["#"+attribute], values[":"+attribute] = attribute, dynamo.S(text)
	}
	_, err := l.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.table, Key: dynamo.Item{attributeShard: dynamo.S(partition(id)), attributeID: dynamo.N(id)},
		ConditionExpression: aws.String("attribute_exists(#id)"), UpdateExpression: &update,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}
