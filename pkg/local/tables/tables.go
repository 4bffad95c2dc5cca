package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/samtemplate"
)

// activeTimeout bounds the wait for a new table: the engines here need milliseconds, AWS some seconds.
const activeTimeout = time.Minute

// ErrDiffers says that a table exists with other keys or indexes than the template's.
var ErrDiffers = errors.New("the table differs from the template")

// Make makes the tables that are missing, waits until they can be used, and sets their time to live. It may be repeated after a crash at
// any point. An existing table whose keys or indexes are other ones is ErrDiffers, with its name.
func Make(ctx context.Context, client *dynamodb.Client, tables []samtemplate.Table) error {
	for i := range tables {
		if err := makeTable(ctx, client, &tables[i]); err != nil {
			return err
		}
	}
	return nil
}

func makeTable(ctx context.Context, client *dynamodb.Client, table *samtemplate.Table) error {
	found, err := describe(ctx, client, table.Name)
	if err != nil {
		return err
	}
	if found.TableName == nil {
		_, err := client.CreateTable(ctx, createInput(table))
		if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists { // somebody else may make it too
			return fmt.Errorf("make table %s: %w", table.Name, err)
		}
		if found, err = awaitActive(ctx, client, table.Name); err != nil {
			return err
		}
	}
	if differences := compare(table, found); len(differences) > 0 {
		return fmt.Errorf("%w: %s has %s", ErrDiffers, table.Name, strings.Join(differences, ", "))
	}
	return enableTTL(ctx, client, table)
}

// describe gives a description without a name for a table that does not exist.
func describe(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return &types.TableDescription{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at table %s: %w", name, err)
	}
	return out.Table, nil
}

func awaitActive(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	out, err := waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &name}, activeTimeout)
	if err != nil {
		return nil, fmt.Errorf("wait for table %s: %w", name, err)
	}
	return out.Table, nil
}

func createInput(table *samtemplate.Table) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(table.Name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(table.Hash, table.Range),
	}
	attributes := []samtemplate.Attribute{table.Hash, table.Range}
	for _, index := range table.Indexes {
		attributes = append(attributes, index.Hash, index.Range)
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(index.Name),
			KeySchema: keySchema(index.Hash, index.Range),
			Projection: &types.Projection{
				ProjectionType: types.ProjectionType(index.Projection), NonKeyAttributes: index.NonKeyAttributes,
			},
		})
	}
	defined := map[string]bool{"": true} // no range key
	for _, a := range attributes {
		if !defined[a.Name] {
			defined[a.Name] = true
			input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type),
			})
		}
	}
	return input
}

func keySchema(hash, sort samtemplate.Attribute) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: aws.String(hash.Name), KeyType: types.KeyTypeHash}}
	if sort.Name != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String(sort.Name), KeyType: types.KeyTypeRange})
	}
	return keys
}

func enableTTL(ctx context.Context, client *dynamodb.Client, table *samtemplate.Table) error {
	if table.TTLAttribute == "" {
		return nil
	}
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table.Name})
	if err != nil {
		return fmt.Errorf("look at the time to live of table %s: %w", table.Name, err)
	}
	switch d := out.TimeToLiveDescription; {
	case d == nil || d.TimeToLiveStatus == types.TimeToLiveStatusDisabled || d.TimeToLiveStatus == "":
	case aws.ToString(d.AttributeName) == table.TTLAttribute:
		return nil
	default:
		return fmt.Errorf("%w: %s has time to live on %q", ErrDiffers, table.Name, aws.ToString(d.AttributeName))
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &table.Name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: &table.TTLAttribute, Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		return fmt.Errorf("set the time to live of table %s: %w", table.Name, err)
	}
	return nil
}

// EnableStreams switches on the streams that the template has and the tables have not. It may be repeated.
func EnableStreams(ctx context.Context, client *dynamodb.Client, tables []samtemplate.Table) error {
	for i := range tables {
		table := &tables[i]
		if table.StreamViewType == "" {
			continue
		}
		found, err := describe(ctx, client, table.Name)
		if err != nil {
			return err
		}
		if found.TableName == nil {
			return fmt.Errorf("switch on the stream: table %s does not exist", table.Name)
		}
		if s := found.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
			if string(s.StreamViewType) != table.StreamViewType {
				return fmt.Errorf("%w: %s has a stream of %s", ErrDiffers, table.Name, s.StreamViewType)
			}
			continue
		}
		_, err = client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &table.Name,
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(table.StreamViewType),
			},
		})
		if err != nil {
			return fmt.Errorf("switch on the stream of table %s: %w", table.Name, err)
		}
	}
	return nil
}
