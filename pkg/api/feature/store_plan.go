package feature

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Edit is a change of one toggle.
type Edit struct {
	Name      string
	Change    Change
	LastEvent int64 // of the toggle for which the change was decided: another one is not changed; 0: any
}

// Plan is a part of a transaction that makes several changes of toggles.
type Plan struct {
	Actions []types.TransactWriteItem // none if nothing changes
	t       *transaction
}

// Plan returns the actions of changes of toggles, those of the same toggle one after the other. They decide the flags of
// all toggles, too. Its errors are those of UpdateAll.
func (s *Store) Plan(ctx context.Context, edits []Edit) (Plan, error) {
	changes, decided := map[string][]Change{}, map[string]int64{}
	var names []string
	for _, e := range edits {
		if changes[e.Name] == nil {
			names = append(names, e.Name)
		}
		changes[e.Name] = append(changes[e.Name], e.Change)
		decided[e.Name] = max(decided[e.Name], e.LastEvent)
	}
	p := Plan{t: s.transaction()}
	if len(names) == 0 {
		return p, nil
	}
	all, err := s.read(ctx, names)
	if err != nil {
		return Plan{}, err
	}
	for _, f := range all {
		f.LastEvent = cmp.Or(decided[f.Name], f.LastEvent) // the condition of the write
		if err := p.t.change(ctx, f, Each(changes[f.Name])); err != nil {
			return Plan{}, err
		}
	}
	if err := p.t.relate(ctx); err != nil {
		return Plan{}, err
	}
	if err := p.t.guard(ctx); err != nil {
		return Plan{}, err
	}
	p.Actions, err = p.t.build(ctx)
	return p, err
}

// Each returns the change that consists of several ones.
func Each(changes []Change) Change {
	return func(f toggle.Feature) (toggle.Feature, error) {
		for _, change := range changes {
			var err error
			if f, err = change(f); err != nil {
				return f, err
			}
		}
		return f, nil
	}
}

// MissingResource returns the error if a transaction failed because resources that its toggles use do not exist, or nil if
// it is to be planned again. Failures are those of the plan's own actions.
func (p Plan) MissingResource(failures []dynamo.Failure) error {
	if len(failures) == 0 || len(p.Actions) == 0 {
		return nil
	}
	return p.t.missingResource(failures)
}
