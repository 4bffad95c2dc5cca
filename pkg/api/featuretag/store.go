package featuretag

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store reads the tags of all toggles. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store on the table Features.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[featuretable.Table]}
}

// All returns the tags of the toggles that the caller sees, archived ones included, ordered by type and value. It reads
// all toggles, consistently.
func (s *Store) All(ctx context.Context) ([]toggle.Tag, error) {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := featuretable.Scan(ctx, s.client, s.table,
		func(row featuretable.Row) bool { return visible(row.Toggle.Project) },
		featuretable.AttributeProject, featuretable.AttributeTags)
	var all []toggle.Tag
	for _, row := range rows {
		all = append(all, row.Toggle.Tags...)
	}
	return toggle.NormalizedTags(all), err
}
