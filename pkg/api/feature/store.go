package feature

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store reads and writes toggles, and records every change. It is safe for concurrent use.
type Store struct {
	*Reader
	fields                *contextfield.Store
	fieldReferences       references.Store
	segmentReferences     references.Store
	environmentReferences references.Store
	environments          *environment.Store
	guard                 *protection.Guard
	access                string // the table
	log                   *eventlog.Log
}

// NewStore returns a store on the tables Features, ContextFields, FeatureTypes and Access that records its changes in log.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	environments := environment.NewStore(client, tables, nil)
	return &Store{
		Reader:                NewReader(client, tables, log.Now),
		fields:                contextfield.NewStore(client, tables, nil),
		fieldReferences:       contextfield.ReferencesStore(client, tables),
		segmentReferences:     segment.ReferencesStore(client, tables),
		environmentReferences: environment.ReferencesStore(client, tables),
		environments:          environments,
		guard:                 protection.NewGuard(accesstable.NewReader(client, tables), environments),
		access:                tables[accesstable.Table],
		log:                   log,
	}
}

// InProject returns a copy of the store that finds only toggles of a project by their names.
func (s *Store) InProject(project string) *Store {
	scoped := *s
	scoped.Reader = s.Reader.InProject(project)
	return &scoped
}

// Create adds a toggle and returns it as it is stored. The kind of its error is NameExists if the name is taken, and
// Conflict if the toggle uses a context field that does not exist.
func (s *Store) Create(ctx context.Context, f toggle.Feature) (toggle.Feature, error) {
	s.stampArchived(toggle.Feature{}, &f)
	f = f.Normalized()
	return s.create(ctx, f, []eventlog.Change{featuretable.Change(f, eventlog.FeatureCreated, f.JSON(), nil)})
}

// CreateWithState is Create for a toggle that is not archived, and whose state is recorded by the events of Differences.
func (s *Store) CreateWithState(ctx context.Context, f toggle.Feature) (toggle.Feature, error) {
	return s.create(ctx, f.Normalized(), Differences(toggle.Feature{}, f))
}

// create adds a toggle, which is normalized, with the changes that record it.
func (s *Store) create(ctx context.Context, f toggle.Feature, changes []eventlog.Change) (toggle.Feature, error) {
	f.Children = nil
	last := int64(0) // the id of the last event of a deleted toggle with the same name
	var t *transaction
	err := s.log.RetryTransact(ctx, func() (_ []types.TransactWriteItem, err error) {
		if t, err = s.planCreation(ctx, f, changes, last); err != nil {
			return nil, err
		}
		return t.build(ctx)
	}, func(failures []dynamo.Failure) error {
		failed := t.actions.Failed(failures)
		if failed[actionToggle].Failed {
			return taken(f.Name)
		}
		last = max(last, eventlog.LastInMarker(failed[actionMarker]))
		return t.missingResource(failures)
	})
	if err != nil {
		return toggle.Feature{}, fmt.Errorf("create toggle %q: %w", f.Name, err)
	}
	return t.edits[0].next, nil
}

// taken returns the error if a toggle, of any project, has a name.
func taken(name string) error {
	return apierror.Taken("/body/name", "A toggle with the name %q exists. Names are unique in the installation, archived "+
		"toggles included.", apierror.Echo(name))
}

// planCreation returns the transaction that adds a toggle. last is the id of the last event of a deleted toggle with the
// name.
func (s *Store) planCreation(
	ctx context.Context, f toggle.Feature, changes []eventlog.Change, last int64,
) (*transaction, error) {
	t := s.transaction()
	if err := t.create(ctx, f, changes, last); err != nil {
		return nil, err
	}
	if err := t.relate(ctx); err != nil {
		return nil, err
	}
	return t, t.guard(ctx)
}

// PlanCreation returns the error that CreateWithState would return before it writes, or nil.
func (s *Store) PlanCreation(ctx context.Context, f toggle.Feature) error {
	switch _, err := s.InProject("").Get(ctx, f.Name); {
	case err == nil:
		return taken(f.Name)
	case apierror.KindOf(err) != apierror.NotFound:
		return err
	}
	t, err := s.planCreation(ctx, f.Normalized(), Differences(toggle.Feature{}, f), 0)
	if err != nil {
		return err
	}
	_, err = t.build(ctx)
	return err
}

// Change receives the current toggle and returns the new one, or an error. Changes of the name, of the time and the
// author of the creation, and of the flag are ignored.
type Change func(toggle.Feature) (toggle.Feature, error)

// Update changes a toggle. It returns an error of change. If the toggle is changed concurrently, change is called
// again. A change of the type, of Archived or of Stale decides the flag again. An update that changes nothing writes
// nothing. The kind of its error is NotFound, or Conflict if the toggle uses a context field that does not exist.
func (s *Store) Update(ctx context.Context, name string, change Change) (toggle.Feature, error) {
	all, err := s.UpdateAll(ctx, []string{name}, change)
	if err != nil {
		return toggle.Feature{}, err
	}
	return all[0], nil
}

// ErrTooManyChanges reports changes of several toggles that do not fit into one transaction.
var ErrTooManyChanges = errors.New("the changes do not fit into one transaction")

// UpdateAll is Update for at most 50 toggles with different names, in one transaction: all of them are changed, or
// none.
//
// A transaction has at most 100 actions. If the flags of too many toggles change too, separate transactions make these
// flips: they clear flags before the change, and decide the others after it. If the process ends in between,
// re-evaluation sets the flags. Each toggle takes one action and one for each of its events, and each context field
// whose references change takes one. If this is too much, or the toggles have more than 4 MB together, UpdateAll
// changes nothing, and returns an error that wraps ErrTooManyChanges and whose kind is Validation.
func (s *Store) UpdateAll(ctx context.Context, names []string, change Change) ([]toggle.Feature, error) {
	plan := func(t *transaction, old toggle.Feature) error { return t.change(ctx, old, change) }
	t, err := s.write(ctx, names, plan)
	for err == nil && t.isPreparation {
		t, err = s.write(ctx, names, plan)
	}
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", describe(names), err)
	}
	if err := s.decideFlags(ctx, t.undecided); err != nil {
		return nil, err
	}
	all := make([]toggle.Feature, len(names))
	for i := range names { // parents whose children change follow
		all[i] = t.edits[i].next
	}
	return all, nil
}

// decideFlags sets the flags of toggles that are due, in transactions that each hold as many as fit.
func (s *Store) decideFlags(ctx context.Context, names []string) error {
	const actions = 3 // of a toggle: the toggle, its event, and the condition on its type
	for some := range slices.Chunk(names, dynamo.MaxActions/actions) {
		_, err := s.write(ctx, some, func(t *transaction, old toggle.Feature) error { return t.reevaluate(ctx, old) })
		// If one was deleted, re-evaluation sets the flags of the others.
		if err != nil && apierror.KindOf(err) != apierror.NotFound {
			return fmt.Errorf("re-evaluate %s: %w", describe(some), err)
		}
	}
	return nil
}

func describe(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("toggle %q", names[0])
	}
	return fmt.Sprintf("%d toggles", len(names))
}

// stampArchived sets the time at which a toggle is archived, unless the change sets it.
func (s *Store) stampArchived(old toggle.Feature, next *toggle.Feature) {
	if !old.Archived && next.Archived && next.ArchivedAt == nil {
		next.ArchivedAt = new(s.log.Now())
	}
}

// Delete deletes a toggle and its references to context fields. precondition receives the toggle and returns nil, or an
// error that Delete returns; it can be nil. The kind of the error is NotFound if there is no such toggle.
func (s *Store) Delete(ctx context.Context, name string, precondition func(toggle.Feature) error) error {
	_, err := s.write(ctx, []string{name}, func(t *transaction, old toggle.Feature) error {
		if precondition != nil {
			if err := precondition(old); err != nil {
				return err
			}
		}
		return t.remove(ctx, old)
	})
	if err != nil {
		return fmt.Errorf("delete toggle %q: %w", name, err)
	}
	return nil
}

// write reads toggles, and runs the transaction to which plan adds a change of each. It begins again if one of them, or
// what the transaction depends on, is changed concurrently. Without a change it writes nothing. If the changes do not
// fit into one transaction, it runs the part of them that transaction.reduce returns.
func (s *Store) write(
	ctx context.Context, names []string, plan func(*transaction, toggle.Feature) error,
) (*transaction, error) {
	var t *transaction
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, err := s.read(ctx, names)
		if err != nil {
			return nil, err
		}
		t = s.transaction()
		for _, f := range all {
			if err := plan(t, f); err != nil {
				return nil, err
			}
		}
		if err := t.relate(ctx); err != nil {
			return nil, err
		}
		if err := t.guard(ctx); err != nil {
			return nil, err
		}
		if t, err = t.reduce(); err != nil {
			return nil, err
		}
		return t.build(ctx)
	}, func(failures []dynamo.Failure) error { return t.missingResource(failures) })
	return t, err
}
