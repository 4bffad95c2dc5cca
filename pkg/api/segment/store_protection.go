package segment

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
)

// permit returns how the change of a segment is permitted to the caller in the environments in which strategies use it,
// and the conditions that nothing of this has changed. The kind of its error is NoAccess if the caller may not make the
// change directly.
func (s *Store) permit(ctx context.Context, old, next Segment) (
	by eventlog.PermittedBy, conditions []types.TransactWriteItem, err error,
) {
	if reflect.DeepEqual(old.Constraints, next.Constraints) {
		return by, nil, nil
	}
	conditions = append(conditions, s.references.Unchanged(segmenttable.Name(old.ID), old.References))
	if old.References.Toggles() == 0 {
		return by, conditions, nil
	}
	protections, err := s.projects.Protections(ctx)
	if err != nil {
		return by, nil, err
	}
	environments, sameEnvironments, err := s.environments.AllWithVersion(ctx)
	if err != nil {
		return by, nil, err
	}
	projects := map[string]*access.Project{}
	for _, id := range slices.Sorted(maps.Keys(old.References.ByProject)) {
		if projects[id], err = s.projects.Project(ctx, id); err != nil {
			return by, nil, err
		}
	}
	conditions = append(conditions, sameEnvironments, accesstable.SameProtections(s.access, protections))
	if !anyProtected(projects, environments) {
		return by, conditions, nil
	}
	places, err := s.UsedIn(ctx, old.ID)
	if err != nil {
		return by, nil, err
	}
	named := map[string]environment.Environment{}
	for _, e := range environments {
		named[e.Name] = e
	}
	permitted, err := protection.Permit(ctx, places, projects, named, s.log.Now())
	for _, in := range permitted {
		by.SkippedChangeRequest = by.SkippedChangeRequest || in.SkippedChangeRequest
	}
	return by, conditions, err
}

// anyProtected reports whether an environment can be protected or frozen.
func anyProtected(projects map[string]*access.Project, environments []environment.Environment) bool {
	for _, p := range projects {
		if p != nil && len(p.Protections) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(environments, func(e environment.Environment) bool {
		return e.RequiredApprovals > 0 || e.Freeze != nil
	})
}

// UsedIn returns where strategies of active toggles use a segment. It reads all toggles.
func (s *Store) UsedIn(ctx context.Context, id int64) (map[protection.Place]bool, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return !row.Toggle.Archived && slices.Contains(row.Segments, id) },
		featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeEnvironments)
	if err != nil {
		return nil, err
	}
	features, err := featuretable.Features(rows)
	if err != nil {
		return nil, err
	}
	const onlyTurnsOff = false
	places := map[protection.Place]bool{}
	for _, f := range features {
		for name, state := range f.Environments {
			for _, strategy := range state.Strategies {
				if slices.Contains(strategy.Segments, id) {
					places[protection.Place{Project: f.Project, Environment: name}] = onlyTurnsOff
				}
			}
		}
	}
	return places, nil
}
