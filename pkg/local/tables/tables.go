package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/samtemplate"
)

// ErrDiffers is returned for an existing table whose keys or index keys are not the template's.
var ErrDiffers = errors.New("the table differs from the template")

// Make creates the tables that do not exist, waits until they are active, and sets their time to live. It can be
// repeated after a crash at any point.
func Make(ctx context.Context, client *dynamodb.Client, tables []samtemplate.Table) error {
	for i := range tables {
		if err := makeTable(ctx, client, &tables[i]); err != nil {
			return fmt.Errorf("create table %s: %w", tables[i].Name, err)
		}
	}
	return nil
}

func makeTable(ctx context.Context, client *dynamodb.Client, table *samtemplate.Table) error {
	wanted := createInput(table)
	_, err := client.CreateTable(ctx, wanted)
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return err
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	found, err := waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &table.Name}, time.Minute)
	if err != nil {
		return err
	}
	if err := checkKeys(found.Table, wanted); err != nil {
		return err
	}
	return enableTTL(ctx, client, table)
}

func checkKeys(table *types.TableDescription, wanted *dynamodb.CreateTableInput) error {
	found := []string{describe("table", table.KeySchema, table.AttributeDefinitions, nil)}
	for _, i := range table.GlobalSecondaryIndexes {
		found = append(found, describe(*i.IndexName, i.KeySchema, table.AttributeDefinitions, i.Projection))
	}
	expected := []string{describe("table", wanted.KeySchema, wanted.AttributeDefinitions, nil)}
	for _, i := range wanted.GlobalSecondaryIndexes {
		expected = append(expected, describe(*i.IndexName, i.KeySchema, wanted.AttributeDefinitions, i.Projection))
	}
	for _, key := range expected {
		if !slices.Contains(found, key) {
			return fmt.Errorf("%w: it has the keys %q, without %q", ErrDiffers, found, key)
		}
	}
	return nil
}

// describe returns a text such as "table (userId N, id N)" or "email (email S) KEYS_ONLY".
func describe(name string, schema []types.KeySchemaElement, definitions []types.AttributeDefinition,
	p *types.Projection) string {
	var attributes []string
	for _, element := range schema {
		for _, definition := range definitions {
			if *definition.AttributeName == *element.AttributeName {
				attributes = append(attributes, *element.AttributeName+" "+string(definition.AttributeType))
			}
		}
	}
	text := name + " (" + strings.Join(attributes, ", ") + ")"
	if p != nil {
		text += strings.Join(append([]string{" " + string(p.ProjectionType)},
			slices.Sorted(slices.Values(p.NonKeyAttributes))...), " ")
	}
	return text
}

func createInput(table *samtemplate.Table) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{TableName: &table.Name, BillingMode: types.BillingModePayPerRequest}
	defined := []string{""} // no range key
	schema := func(attributes ...samtemplate.Attribute) (schema []types.KeySchemaElement) {
		for i, a := range attributes {
			if a.Name != "" {
				keyType := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
				schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(a.Name), KeyType: keyType})
			}
			if !slices.Contains(defined, a.Name) {
				defined = append(defined, a.Name)
				input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
					AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type),
				})
			}
		}
		return schema
	}
	input.KeySchema = schema(table.Hash, table.Range)
	for _, index := range table.Indexes {
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(index.Name), KeySchema: schema(index.Hash, index.Range),
			Projection: &types.Projection{
				ProjectionType: types.ProjectionType(index.Projection), NonKeyAttributes: index.NonKeyAttributes,
			},
		})
	}
	return input
}

func enableTTL(ctx context.Context, client *dynamodb.Client, table *samtemplate.Table) error {
	if table.TTLAttribute == "" {
		return nil
	}
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table.Name})
	if err != nil {
		return err
	}
	if d := out.TimeToLiveDescription; d != nil && aws.ToString(d.AttributeName) == table.TTLAttribute {
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &table.Name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &table.TTLAttribute, Enabled: aws.Bool(true)},
	})
	return err
}

// EnableStreams enables the streams that the template declares and the tables do not have yet. It can be repeated.
func EnableStreams(ctx context.Context, client *dynamodb.Client, tables []samtemplate.Table) error {
	for i := range tables {
		if tables[i].StreamViewType == "" {
			continue
		}
		if err := enableStream(ctx, client, &tables[i]); err != nil {
			return fmt.Errorf("enable the stream of table %s: %w", tables[i].Name, err)
		}
	}
	return nil
}

func enableStream(ctx context.Context, client *dynamodb.Client, table *samtemplate.Table) error {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table.Name})
	if err != nil {
		return err
	}
	if s := out.Table.StreamSpecification; s != nil && string(s.StreamViewType) == table.StreamViewType {
		return nil
	}
	_, err = client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: &table.Name,
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(table.StreamViewType),
		},
	})
	return err
}
