package contextfield

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// The names of the actions of a transaction. Each field has an item with its properties and one with the references to
// it.
const (
	actionField      = "field"
	actionReferences = "references"
	actionVersion    = "version"
	actionMarker     = "marker" // of a deleted field with the name
	actionEvent      = "event"
)

// Create adds an unused field and returns it as it is stored. The kind of its error is, in this order, ContentTooLarge
// or NoAccess if the field or the list of all fields would be too large, and NameExists. It reads all fields and writes
// one transaction, repeated if a field is changed concurrently.
func (s *Store) Create(ctx context.Context, f ContextField) (ContextField, error) {
	f.LastEvent = 0
	var created ContextField
	var actions *dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, version, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		created = f.placed(all)
		if err := checkSizes(all, -1, created); err != nil {
			return nil, err
		}
		if indexOf(all, f.Name) >= 0 {
			return nil, apierror.Taken("/body/name", "A context field with the name %q exists.", apierror.Echo(f.Name))
		}
		actions = &dynamo.Actions{}
		if err := s.create(ctx, actions, &created); err != nil {
			return nil, err
		}
		actions.Add(actionVersion, s.version.NextAfter(version, nil))
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		// A process whose clock is ahead can have deleted a field with this name.
		f.LastEvent = max(f.LastEvent, eventlog.LastInMarker(actions.Failed(failures)[actionMarker]))
		return nil
	})
	if err != nil {
		return ContextField{}, fmt.Errorf("create context field %q: %w", f.Name, err)
	}
	return created, nil
}

// CreateActions returns the actions of a transaction that creates unused fields and records them. They fail if a field
// exists.
func (s *Store) CreateActions(ctx context.Context, fields ...ContextField) ([]types.TransactWriteItem, error) {
	var actions dynamo.Actions
	for _, f := range fields {
		if err := s.create(ctx, &actions, &f); err != nil {
			return nil, err
		}
	}
	actions.Add(actionVersion, s.version.Next())
	return actions.List(), nil
}

// create adds the actions that create an unused field and record it, and sets f.LastEvent, which is the id of the last
// event of a deleted field with the name.
func (s *Store) create(ctx context.Context, actions *dynamo.Actions, f *ContextField) error {
	id, record, err := s.log.RecordActions(ctx, f.change(eventlog.ContextFieldCreated, f.eventData(), nil))
	if err != nil {
		return err
	}
	f.LastEvent, f.References = id, references.Counts{}
	actions.Add(actionField, dynamo.NewItem(s.table, hash, toItem(*f)))
	actions.Add(actionReferences, s.references.Create(f.Name))
	actions.Add(actionMarker, s.log.CheckMarkerActions(f.subject(), id)...)
	actions.Add(actionEvent, record...)
	return nil
}

// Replace replaces everything but the name, the time of creation and the references to a field. It returns the stored
// field. Its error is, in this order, of the kind NotFound, that of the precondition, of the kinds ContentTooLarge or
// NoAccess if the field or the list of all fields would be too large, or of the kind Conflict if strategies or segments
// use a legal value or the stickiness that the field loses. precondition receives the field that is replaced. Replace
// reads all fields, all toggles and segments if the field loses something, and writes one transaction, repeated if one
// of them is changed concurrently. If nothing changes, it only reads.
func (s *Store) Replace(ctx context.Context, f ContextField, precondition func(ContextField) error) (
	next ContextField, err error,
) {
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, version, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		i := indexOf(all, f.Name)
		if i < 0 {
			return nil, notFound(f.Name)
		}
		old := all[i]
		if err := precondition(old); err != nil {
			return nil, err
		}
		next = f.placed(all)
		next.CreatedAt, next.References, next.LastEvent = old.CreatedAt, old.References, old.LastEvent
		if reflect.DeepEqual(old.eventData(), next.eventData()) {
			return nil, nil
		}
		if err := checkSizes(all, i, next); err != nil {
			return nil, err
		}
		var unchangedUse []types.TransactWriteItem
		if lost := lossOf(old, next, false); lost != nil {
			if err := s.checkLoss(ctx, lost); err != nil {
				return nil, err
			}
			unchangedUse = append(unchangedUse, s.references.SameVersion(f.Name, old.References))
		}
		change := old.change(eventlog.ContextFieldUpdated, next.eventData(), old.eventData())
		id, record, err := s.log.RecordActions(ctx, change)
		if err != nil {
			return nil, err
		}
		next.LastEvent = id
		expr := dynamo.Build(expression.NewBuilder().WithCondition(eventlog.ExistsWithLast(hash, old.LastEvent)))
		replacement := types.TransactWriteItem{Put: &types.Put{
			TableName:                 &s.table,
			Item:                      toItem(next),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}}
		actions := []types.TransactWriteItem{replacement, s.version.NextAfter(version, nil)}
		return slices.Concat(actions, unchangedUse, record), nil
	}, nil)
	if err != nil {
		return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
	}
	return next, nil
}

// Delete deletes a field that no toggle and no segment uses. The kind of its error is NotFound, or Conflict if one uses
// the field. It is one consistent read and one transaction, repeated if the field or its references were changed in
// between. If the field has stickiness, it also reads all toggles and segments.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.DeleteIf(ctx, name, func(ContextField) error { return nil })
}

// DeleteIf is Delete for a field for which precondition returns nil. Otherwise it returns the error of precondition.
func (s *Store) DeleteIf(ctx context.Context, name string, precondition func(ContextField) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		f, err := s.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := precondition(f); err != nil {
			return nil, err
		}
		if f.References.Toggles()+f.References.Segments > 0 {
			return nil, s.inUse(ctx, f)
		}
		if lost := lossOf(f, f, true); lost != nil {
			if err := s.checkLoss(ctx, lost); err != nil {
				return nil, err
			}
		}
		id, record, err := s.log.RecordActions(ctx, f.change(eventlog.ContextFieldDeleted, nil, f.eventData()))
		if err != nil {
			return nil, err
		}
		deletion := dynamo.DeleteItem(s.table, key(name), eventlog.ExistsWithLast(hash, f.LastEvent))
		return slices.Concat(
			[]types.TransactWriteItem{deletion, s.references.Delete(name, f.References), s.version.Next()},
			s.log.PutMarkerActions(f.subject(), id, ""),
			record,
		), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete context field %q: %w", name, err)
	}
	return nil
}

// read returns all fields, and the item with their version. The default sort order of a field and the size of the list
// depend on all fields.
func (s *Store) read(ctx context.Context) (all []ContextField, version dynamo.Item, err error) {
	version, err = s.version.Get(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the version of the context fields: %w", err)
	}
	all, err = s.List(ctx)
	return all, version, err
}

func indexOf(fields []ContextField, name string) int {
	return slices.IndexFunc(fields, func(f ContextField) bool { return f.Name == name })
}

// placed returns the field with its sort order among all fields: if it is to be the last one, the highest sort order of
// the others plus 1, at most 2147483647, or 0 if there are no others.
func (f ContextField) placed(all []ContextField) ContextField {
	if !f.Last {
		return f
	}
	f.Last, f.SortOrder = false, 0
	for _, other := range slices.Backward(all) { // ordered by sort order
		if other.Name != f.Name {
			f.SortOrder = min(other.SortOrder+1, math.MaxInt32)
			break
		}
	}
	return f
}
