package environment

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	download "toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// attributeFull is whether an environment is full, in the item with its references.
const attributeFull = "full"

// SetFull sets whether an environment is full. It is not recorded. It does nothing if there is no such environment.
func (s *Store) SetFull(ctx context.Context, name string, full bool) error {
	update := expression.Remove(expression.Name(attributeFull))
	if full {
		update = expression.Set(expression.Name(attributeFull), expression.Value(true))
	}
	expr := dynamo.Build(expression.NewBuilder().WithUpdate(update).
		WithCondition(expression.Name(hash).AttributeExists()))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       s.references.Key(name),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("set whether the environment %q is full: %w", name, err)
	}
	return nil
}

// Full returns which ones of some environments are full. It is one consistent read.
func (s *Store) Full(ctx context.Context, names []string) ([]string, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = s.references.Key(name)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("read which environments are full: %w", err)
	}
	var full []string
	for _, item := range items {
		if name, _ := s.references.ResourceOf(item); item.Bool(attributeFull) {
			full = append(full, name)
		}
	}
	return full, nil
}

// AllFull returns all environments that are full. It is one consistent Scan.
func (s *Store) AllFull(ctx context.Context) ([]string, error) {
	all, err := s.List(ctx)
	var full []string
	for _, e := range all {
		if e.Full {
			full = append(full, e.Name)
		}
	}
	return full, err
}

// NoRoom returns the error if a change enlarges what applications download in an environment that is full.
func NoRoom(name string) error {
	return apierror.Errorf(apierror.NoAccess, "Applications can download at most %d bytes of toggles, compressed, in an "+
		"environment, and those in %q have reached %d. Archive toggles, or remove strategies, constraints, payloads or "+
		"values of segments first.", download.MaxBody, name, download.MaxBody.Full())
}
