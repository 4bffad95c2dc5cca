package contextfield

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the fields in the table ContextFields. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store that uses tables.ContextFields.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.ContextFields}
}

// hash is the table's partition key.
const hash = "name"

// List returns all fields, ordered by sort order, then by name in code point order. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]ContextField, error) {
	var all []ContextField
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list context fields: %w", err)
		}
		all = append(all, fromItem(item))
	}
	slices.SortFunc(all, func(a, b ContextField) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Creation returns the action of a transaction that creates an unused field. It fails if the field exists.
func (s *Store) Creation(f ContextField) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(f))
}

func toItem(f ContextField) dynamo.Item {
	item := dynamo.Item{
		hash: dynamo.S(f.Name), "stickiness": dynamo.Bool(f.Stickiness), "sortOrder": dynamo.N(f.SortOrder), "usage": dynamo.M(dynamo.Item{}),
	}
	if f.Description != "" {
		item["description"] = dynamo.S(f.Description)
	}
	if f.CreatedAt != nil {
		item["createdAt"] = dynamo.Time(*f.CreatedAt)
	}
	if len(f.LegalValues) > 0 {
		list := &types.AttributeValueMemberL{}
		for _, v := range f.LegalValues {
			value := dynamo.Item{"value": dynamo.S(v.Value)}
			if v.Description != "" {
				value["description"] = dynamo.S(v.Description)
			}
			list.Value = append(list.Value, dynamo.M(value))
		}
		item["legalValues"] = list
	}
	return item
}

func fromItem(item dynamo.Item) ContextField {
	f := ContextField{
		Name: item.String(hash), Description: item.String("description"), Stickiness: item.Bool("stickiness"),
		SortOrder: item.Int("sortOrder"), CreatedAt: item.Time("createdAt"), Usage: map[string]int64{},
	}
	for _, v := range item.List("legalValues") {
		if m, ok := v.(*types.AttributeValueMemberM); ok {
			value := dynamo.Item(m.Value)
			f.LegalValues = append(f.LegalValues, LegalValue{Value: value.String("value"), Description: value.String("description")})
		}
	}
	usage := item.Map("usage")
	for project := range usage {
		f.Usage[project] = usage.Int(project)
	}
	return f
}
