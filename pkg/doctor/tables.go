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

	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/outcome"
)

// Table is what the service needs of a table.
type Table struct {
	ID      string // logical
	Key     string // `hash:S` or `hash:S range:N`
	Indexes []string
	Stream  string // its view; empty: none is needed
}

// Tables are the tables that the service needs.
func Tables() []Table {
	return []Table{
		{ID: "FeatureTypes", Key: "id:S", Stream: "NEW_AND_OLD_IMAGES"},
		{ID: "Features", Key: "name:S", Indexes: []string{"staleness (staleness:S createdAt:S)"}},
		{ID: "ContextFields", Key: "name:S"},
		{ID: "Feedback", Key: "userId:N feedbackId:S"},
		{ID: "Users", Key: "id:N", Indexes: []string{"email (email:S)"}},
		{ID: "PersonalAccessTokens", Key: "userId:N id:N"},
		{ID: "ApiTokens", Key: "id:S"},
		{ID: "Traffic", Key: "period:S pathDayShard:S"},
	}
}

func (d *doctor) tables(ctx context.Context) {
	for _, t := range Tables() {
		d.run(ctx, "table "+t.ID, func(ctx context.Context) (string, error) { return d.table(ctx, &t) })
	}
}

// MustHaveTables gives an error of kind Uninitialised that names each table which is not as the service needs it.
func MustHaveTables(ctx context.Context, i *installation.Installation) error {
	d := &doctor{Config: Config{Installation: i}}
	for _, t := range Tables() {
		if _, err := d.table(ctx, &t); err != nil {
			if found, ok := errors.AsType[*trouble](err); ok {
				return outcome.New(outcome.Uninitialised, "the table %s of %s cannot be used: %s: %s", t.ID, i.Name, found.detail, found.advice)
			}
			return err
		}
	}
	return nil
}

func (d *doctor) table(ctx context.Context, want *Table) (string, error) {
	name := d.Installation.Tables.ByID()[want.ID]
	found, err := describeTable(ctx, d.Installation.Client, name)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", problem(fmt.Sprintf("there is no table %s", name), "restore it under this name (see docs/backup.md), or deploy a new stack")
	}
	var wrong []string
	differs := func(what, want, is string) {
		if want != is {
			wrong = append(wrong, fmt.Sprintf("its %s is %s, not %s", what, orNone(is), want))
		}
	}
	attributes := map[string]string{}
	for _, a := range found.AttributeDefinitions {
		attributes[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	differs("key", want.Key, keyText(found.KeySchema, attributes))
	differs("state", "ACTIVE", string(found.TableStatus))
	indexes := map[string]types.GlobalSecondaryIndexDescription{}
	for _, i := range found.GlobalSecondaryIndexes {
		indexes[fmt.Sprintf("%s (%s)", aws.ToString(i.IndexName), keyText(i.KeySchema, attributes))] = i
	}
	for _, i := range want.Indexes {
		index, ok := indexes[i]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("it has no index %s", i))
		} else if status := string(index.IndexStatus); status != "" { // engines on one machine name none
			differs("index "+aws.ToString(index.IndexName), "ACTIVE", status)
		}
	}
	if want.Stream != "" {
		differs("stream", want.Stream, streamView(found.StreamSpecification))
	}
	if len(wrong) > 0 {
		return "", problem(strings.Join(wrong, "; "),
			"wait if a deployment or a restore is running; else deploy the stack again, which puts indexes and streams right")
	}
	detail := name
	if len(want.Indexes) > 0 {
		detail += ", index " + strings.Join(want.Indexes, ", ")
	}
	if want.Stream != "" {
		detail += ", stream on"
	}
	return detail, nil
}

// describeTable gives nil for a table that does not exist.
func describeTable(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return nil, nil //nolint:nilnil // the two readers of it look for a name
	}
	if err != nil {
		return nil, fmt.Errorf("look at table %s: %w", name, err)
	}
	return out.Table, nil
}

// keyText is a key, the hash first: `userId:N id:N`.
func keyText(key []types.KeySchemaElement, attributes map[string]string) string {
	parts := make([]string, 0, len(key))
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		if i := slices.IndexFunc(key, func(k types.KeySchemaElement) bool { return k.KeyType == kind }); i >= 0 {
			name := aws.ToString(key[i].AttributeName)
			parts = append(parts, name+":"+attributes[name])
		}
	}
	return strings.Join(parts, " ")
}

func streamView(s *types.StreamSpecification) string {
	if s == nil || !aws.ToBool(s.StreamEnabled) {
		return ""
	}
	return string(s.StreamViewType)
}

func orNone(text string) string {
	if text == "" {
		return "off"
	}
	return text
}
