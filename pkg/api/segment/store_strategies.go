package segment

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/dynamo"
)

// Strategies finds what uses segments. It is safe for concurrent use.
type Strategies struct {
	client   *dynamodb.Client
	features string
}

// NewStrategies returns Strategies on the table Features.
func NewStrategies(client *dynamodb.Client, tables dynamo.Tables) *Strategies {
	return &Strategies{client, tables[featuretable.Table]}
}

// Strategy is a strategy of a toggle in an environment.
type Strategy struct {
	ID          string `json:"id"`
	Project     string `json:"projectId"`
	Feature     string `json:"featureName"`
	Name        string `json:"strategyName"` // its type
	Environment string `json:"environment"`
}

// Of returns the strategies that use a segment, those of archived toggles included, ordered by toggle, environment and
// id. It reads all toggles, consistently.
func (s *Strategies) Of(ctx context.Context, id int64) ([]Strategy, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return slices.Contains(row.Segments, id) })
	if err != nil {
		return nil, err
	}
	features, err := featuretable.Features(rows)
	if err != nil {
		return nil, err
	}
	all := []Strategy{}
	for _, f := range features {
		for environment, state := range f.Environments {
			for _, strategy := range state.Strategies {
				if slices.Contains(strategy.Segments, id) {
					all = append(all, Strategy{strategy.ID, f.Project, f.Name, strategy.Name, environment})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Strategy) int {
		return cmp.Or(cmp.Compare(a.Feature, b.Feature), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// CountReferences counts the references to each segment, by segmenttable.Name of its id. Store.Check compares it with
// what is stored. It reads all toggles.
func (s *Strategies) CountReferences(ctx context.Context) (map[string]references.Counts, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return len(row.Segments) > 0 },
		featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeEnvironments)
	if err != nil {
		return nil, err
	}
	counted := map[string]references.Counts{}
	for _, row := range rows {
		for _, id := range row.Segments {
			u := counted[segmenttable.Name(id)]
			if u.ByProject == nil {
				u.ByProject = references.ByProject{}
			}
			if row.Toggle.Archived {
				u.Archived++
			} else {
				u.ByProject[row.Toggle.Project]++
			}
			counted[segmenttable.Name(id)] = u
		}
	}
	return counted, nil
}
