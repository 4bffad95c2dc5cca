package codereference

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
)

// Toggles reads the names of toggles. It is safe for concurrent use.
type Toggles struct {
	client *dynamodb.Client
	table  string
}

// NewToggles returns a reader of the table Features.
func NewToggles(client *dynamodb.Client, tables dynamo.Tables) *Toggles {
	return &Toggles{client, tables[featuretable.Table]}
}

// referenced returns where the names of the toggles that are not archived occur, ordered by name, for projects that have
// reports. It reads all toggles, consistently.
func (t *Toggles) referenced(ctx context.Context, reports map[string][]Report) ([]featureResponse, error) {
	rows, err := featuretable.Scan(ctx, t.client, t.table,
		func(row featuretable.Row) bool { return !row.Toggle.Archived && reports[row.Toggle.Project] != nil },
		featuretable.Hash, featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeCreatedAt)
	if err != nil {
		return nil, err
	}
	all := make([]featureResponse, len(rows))
	for i, row := range rows {
		f := row.Toggle
		all[i] = newFeatureResponse(f.Name, f.Project, f.CreatedAt, reports[f.Project])
	}
	slices.SortFunc(all, func(a, b featureResponse) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
