package project

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store reads the projects. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	features string
}

// NewStore returns a Store on the table Features.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[featuretable.Table]}
}

// List returns all projects, ordered by id. A project of archived toggles is one of them. It reads all toggles,
// consistently.
func (s *Store) List(ctx context.Context) ([]Project, error) {
	all, err := featuretable.Scan(ctx, s.client, s.features, func(featuretable.Row) bool { return true },
		featuretable.AttributeProject, featuretable.AttributeArchived)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{toggle.DefaultProject: 0}
	for _, row := range all {
		n := 1
		if row.Toggle.Archived {
			n = 0
		}
		counts[row.Toggle.Project] += n
	}
	var projects []Project
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		projects = append(projects, Project{id, counts[id]})
	}
	return projects, nil
}
