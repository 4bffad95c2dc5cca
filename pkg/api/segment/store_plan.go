package segment

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/dynamo"
)

// Edit is a change of one segment.
type Edit struct {
	ID        int64
	Change    func(*Segment) error // nil: the segment is deleted
	LastEvent int64                // of the segment for which the change was decided: another one is not changed; 0: any
}

// Plan returns the actions of changes of segments, as a part of a transaction. Its errors are those of Update and Delete.
func (s *Store) Plan(ctx context.Context, edits []Edit) ([]types.TransactWriteItem, error) {
	changes, deleted, decided := map[int64][]func(*Segment) error{}, map[int64]bool{}, map[int64]int64{}
	var ids []int64 // each once, in the order of the edits
	for _, e := range edits {
		if deleted[e.ID] { // by an edit before
			return nil, notFound(segmenttable.Name(e.ID))
		}
		if changes[e.ID] == nil {
			ids = append(ids, e.ID)
		}
		decided[e.ID] = max(decided[e.ID], e.LastEvent)
		if e.Change == nil {
			deleted[e.ID] = true
		} else {
			changes[e.ID] = append(changes[e.ID], e.Change)
		}
	}
	var actions dynamo.Actions
	plan := func(all []Segment, lastID int64, actions *dynamo.Actions) (int64, error) {
		for i, stored := range all {
			all[i].LastEvent = cmp.Or(decided[stored.ID], stored.LastEvent) // the condition of the write
		}
		for _, id := range ids {
			if deleted[id] {
				continue
			}
			if err := s.planUpdate(ctx, all, actions, id, each(changes[id])); err != nil {
				return 0, err
			}
		}
		return lastID, nil
	}
	if len(changes) > 0 {
		if err := s.plan(ctx, &actions, plan); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if !deleted[id] {
			continue
		}
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		old.LastEvent = cmp.Or(decided[id], old.LastEvent)
		if err := s.planDelete(ctx, &actions, old); err != nil {
			return nil, err
		}
	}
	return actions.List(), nil
}

// each returns the change that consists of several ones.
func each(changes []func(*Segment) error) func(*Segment) error {
	return func(s *Segment) error {
		for _, change := range changes {
			if err := change(s); err != nil {
				return err
			}
		}
		return nil
	}
}
