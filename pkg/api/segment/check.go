package segment

import (
	"context"
	"fmt"
	"strconv"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// Check compares the stored references to the segments with the toggles that use them, which count returns by
// segmenttable.Name of their ids. It returns a consistency.Check.
func (s *Store) Check(count func(context.Context) (map[string]references.Counts, error)) consistency.Check {
	checker := references.Checker{
		Store:      s.references,
		Kind:       "segment",
		IsResource: segmenttable.IsSegment,
		Count:      count,
		Advice:     "restore all tables, or delete the strategies that use the segment",
	}
	return checker.Check
}

// CheckCounter returns a check that compares the counter of ids with the highest id of a segment that exists, is used,
// or was created according to the event log. used returns the references by segmenttable.Name of the ids.
func (s *Store) CheckCounter(used func(context.Context) (map[string]references.Counts, error)) consistency.Check {
	return func(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
		highest, err := s.highest(ctx, used)
		if err != nil {
			return "", nil, err
		}
		version, err := s.version.Get(ctx) // last, because the counter only rises
		if err != nil {
			return "", nil, err
		}
		if last := version.Int(attributeLastID); last < highest {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the counter of segment ids is %d, below the segment %d: ids would be reused", last, highest),
				Repair: dynamo.ReplaceAttribute(s.client, s.table, dynamo.Item{segmenttable.Hash: dynamo.S(dynamo.VersionKey)},
					[]string{attributeLastID}, version[attributeLastID], dynamo.N(highest)),
			})
		}
		return "not below the id of a segment", found, nil
	}
}

// highest returns the highest id of a segment that exists, is used or was created.
func (s *Store) highest(
	ctx context.Context, used func(context.Context) (map[string]references.Counts, error),
) (highest int64, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, segment := range all {
		highest = max(highest, segment.ID)
	}
	counted, err := used(ctx)
	if err != nil {
		return 0, err
	}
	for name := range counted {
		id, _ := strconv.ParseInt(name, 10, 64)
		highest = max(highest, id)
	}
	recorded, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.SegmentCreated)
	return max(highest, recorded), err
}

// CountFields adds the references to context fields by segments to counted.
func (s *Store) CountFields(ctx context.Context, counted map[string]references.Counts) error {
	all, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("count the references to context fields: %w", err)
	}
	for _, found := range all {
		for _, name := range constraint.Fields(found.Constraints) {
			u := counted[name]
			u.Segments++
			counted[name] = u
		}
	}
	return nil
}
