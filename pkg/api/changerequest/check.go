package changerequest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// Check compares the numbers and the open requests of projects, and the counter of ids, with the requests. It is a
// consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	stored, highest, err := s.stored(ctx)
	if err != nil {
		return "", nil, err
	}
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	counted := map[string]numbers{}
	for _, r := range all {
		n := counted[r.Project]
		if n.byState == nil {
			n.byState = map[State]int64{}
		}
		n.byState[r.State]++
		if !r.State.IsFinal() {
			n.open = append(n.open, r.ID)
		}
		counted[r.Project] = n
		if r.ID > highest {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the counter of change requests is %d, below the request %d: ids would be reused", highest, r.ID),
				Repair: dynamo.ReplaceAttribute(s.client, s.table, dynamo.Item{hash: dynamo.S(dynamo.VersionKey)},
					[]string{attributeLastID}, dynamo.N(highest), dynamo.N(r.ID)),
			})
			highest = r.ID
		}
	}
	projects := maps.Clone(counted)
	maps.Copy(projects, stored)
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		if !counted[project].equal(stored[project]) {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the project %q has other numbers of change requests than are stored", project),
				Repair: s.replaceNumbers(project, counted[project]),
			})
		}
	}
	return fmt.Sprintf("%d, as the numbers of projects say", len(all)), found, nil
}

// equal reports whether the numbers and the open requests are the same.
func (n numbers) equal(other numbers) bool {
	for _, state := range States() {
		if n.byState[state] != other.byState[state] {
			return false
		}
	}
	return slices.Equal(n.open, other.open)
}

// isProject returns the project whose numbers an item contains. ok is false for another item.
func isProject(item dynamo.Item) (id string, ok bool) {
	return strings.CutPrefix(item.String(hash), projectPrefix)
}
