package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
)

// Layouts are the required properties of each table by logical id. A test compares them with template.yaml.
var Layouts = map[string][]string{
	"FeatureTypes":         {"key id:S", "stream NEW_AND_OLD_IMAGES"},
	"Features":             {"key name:S", "index staleness staleness:S createdAt:S"},
	"ContextFields":        {"key name:S"},
	"Feedback":             {"key userId:N feedbackId:S"},
	"Users":                {"key id:N"},
	"Identifiers":          {"key id:S"},
	"PersonalAccessTokens": {"key userId:N id:N"},
	"ApiTokens":            {"key id:S"},
	"Traffic":              {"key period:S pathDayShard:S"},
	"Events":               {"key shard:S id:N", "index subjects subject:S id:N", "stream NEW_IMAGE"},
}

func (d *doctor) tables(ctx context.Context) {
	for _, id := range dynamo.TableIDs() {
		d.run(ctx, "table "+id, func(ctx context.Context) (string, error) { return checkTable(ctx, d.Installation, id) })
	}
}

// RequireTables returns an error with the status Uninitialized if a table does not have the required layout.
func RequireTables(ctx context.Context, i *installation.Installation) error {
	for _, id := range dynamo.TableIDs() {
		_, err := checkTable(ctx, i, id)
		if found, ok := errors.AsType[*problemError](err); ok {
			return exitstatus.Errorf(exitstatus.Uninitialized, "the table %s of %s cannot be used: %s: %s", id, i.Name,
				found.detail, found.advice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkTable(ctx context.Context, i *installation.Installation, id string) (string, error) {
	name := i.Tables.ByID()[id]
	table, err := describeTable(ctx, i.Client, name)
	if err != nil {
		return "", err
	}
	const advice = "wait if a deployment or a restore is running; otherwise deploy the stack again, which creates " +
		"indexes and streams"
	if table.TableStatus != types.TableStatusActive {
		return "", problem(fmt.Sprintf("%s is %s", name, table.TableStatus), advice)
	}
	actual := layout(table)
	missing := slices.DeleteFunc(slices.Clone(Layouts[id]),
		func(property string) bool { return slices.Contains(actual, property) })
	if len(missing) > 0 {
		return "", problem(fmt.Sprintf("%s lacks %s; it has %s", name, strings.Join(missing, ", "),
			strings.Join(actual, ", ")), advice)
	}
	detail := strings.Join(Layouts[id], ", ")
	if name != id {
		detail = name + ": " + detail
	}
	return detail, nil
}

func describeTable(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return nil, problem("there is no table "+name,
			"restore it under this name (see docs/backup.md), or deploy a new stack")
	}
	if err != nil {
		return nil, fmt.Errorf("describe the table %s: %w", name, err)
	}
	return out.Table, nil
}

// layout returns the properties of a table, in the form of Layouts.
func layout(t *types.TableDescription) []string {
	attributes := map[string]string{}
	for _, a := range t.AttributeDefinitions {
		attributes[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	key := func(schema []types.KeySchemaElement) (text string) {
		for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
			for _, k := range schema {
				if name := aws.ToString(k.AttributeName); k.KeyType == kind {
					text += fmt.Sprintf(" %s:%s", name, attributes[name])
				}
			}
		}
		return text
	}
	properties := []string{"key" + key(t.KeySchema)}
	for _, i := range t.GlobalSecondaryIndexes {
		property := "index " + aws.ToString(i.IndexName) + key(i.KeySchema)
		if status := i.IndexStatus; status != "" && status != types.IndexStatusActive { // local engines report no status
			property += fmt.Sprintf(" (%s)", status)
		}
		properties = append(properties, property)
	}
	if s := t.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		properties = append(properties, "stream "+string(s.StreamViewType))
	}
	return properties
}
