package playground

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store reads what toggles are evaluated by. It is safe for concurrent use.
type Store struct {
	client       *dynamodb.Client
	features     string
	segments     string
	environments *environment.Store
}

// NewStore returns a Store on the tables Features, Environments and Segments.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{
		client:       client,
		features:     tables[featuretable.Table],
		segments:     tables[segmenttable.Table],
		environments: environment.NewStore(client, tables, nil),
	}
}

// CheckEnvironments checks that environments exist. The kind of its error is NotFound if one does not.
func (s *Store) CheckEnvironments(ctx context.Context, names []string) error {
	all, err := s.environments.List(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(e environment.Environment) bool { return e.Name == name }) {
			return environment.NotFound(name)
		}
	}
	return nil
}

// Features returns the toggles of the selected projects that are not archived, ordered by name. It scans the table,
// consistently.
func (s *Store) Features(ctx context.Context, selects func(project string) bool) ([]toggle.Feature, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features, func(r featuretable.Row) bool {
		return !r.Toggle.Archived && selects(r.Toggle.Project)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b featuretable.Row) int { return cmp.Compare(a.Toggle.Name, b.Toggle.Name) })
	return featuretable.Features(rows)
}

// Segments returns the segments of the selected projects and those without a project, in any order. It scans the table,
// consistently.
func (s *Store) Segments(ctx context.Context, selects func(project string) bool) ([]toggle.Segment, error) {
	stored, err := segmenttable.Scan(ctx, s.client, s.segments)
	if err != nil {
		return nil, err
	}
	var all []toggle.Segment
	for _, segment := range stored {
		if segment.Project == nil || selects(*segment.Project) {
			all = append(all, segment.Segment)
		}
	}
	return all, nil
}
