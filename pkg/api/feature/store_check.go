package feature

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/segmenttable"
	download "toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// MaxState is the maximum size of the state of all environments of a toggle, in bytes of JSON.
const MaxState = 300_000

// PartError is what is wrong with a part of a toggle. The places of Err are those of a body that is the part.
type PartError struct {
	Strategy string // its id; "": the part is the dependency
	Err      error
}

func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// check returns an error if the state that an edit writes is not possible. It reads the context fields of new and
// changed constraints, which must not change until the transaction is written.
func (t *transaction) check(ctx context.Context, e *edit) error {
	if err := checkLimits(e.old, e.next); err != nil {
		return err
	}
	if err := t.checkSegments(ctx, e); err != nil {
		return err
	}
	if err := t.checkRoom(ctx, e); err != nil {
		return err
	}
	strategies := constrainedStrategies(e.old, e.next)
	var names []string
	for _, s := range strategies {
		names = append(names, constraint.Names(s.Constraints)...)
		if stickiness := s.Parameters[toggle.ParameterStickiness]; constraint.IsStickinessField(stickiness) {
			names = append(names, stickiness)
		}
	}
	if len(names) == 0 {
		return nil
	}
	fields, err := t.store.fields.Named(ctx, slices.Compact(slices.Sorted(slices.Values(names))))
	if err != nil {
		return err
	}
	for _, s := range strategies {
		if err := checkFields(s, fields); err != nil {
			return &PartError{s.ID, err}
		}
	}
	maps.Copy(t.fields, fields)
	return nil
}

// smallChange is how much larger a toggle can always become, in bytes, so that a person can still restrict it.
const smallChange = 200

// checkRoom returns an error if an edit enlarges a toggle in an environment that is full. It reads nothing if the edit
// enlarges it in none.
func (t *transaction) checkRoom(ctx context.Context, e *edit) error {
	const anyOther = "" // an environment in which the toggle has no state
	inAll, err := e.enlarges(anyOther)
	if err != nil {
		return err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(e.next.Environments)) {
		larger, err := e.enlarges(name)
		if err != nil {
			return err
		}
		if larger {
			names = append(names, name)
		}
	}
	var full []string
	switch {
	case inAll:
		full, err = t.store.environments.AllFull(ctx)
	case len(names) > 0:
		full, err = t.store.environments.Full(ctx, names)
	}
	if err == nil && len(full) > 0 {
		err = environment.NoRoom(full[0])
	}
	return err
}

// enlarges reports whether an edit enlarges what applications download in an environment: if the toggle is new there,
// uses another segment, or has more than smallChange. Its dependency does not count.
func (e *edit) enlarges(environment string) (bool, error) {
	old, next := e.old, e.next
	old.Dependency, next.Dependency = nil, nil
	before, err := download.SizeIn(old, environment)
	if err != nil {
		return false, err
	}
	after, err := download.SizeIn(next, environment)
	if err != nil || after == 0 {
		return false, err
	}
	used := segmentsIn(old, environment)
	usesAnother := slices.ContainsFunc(segmentsIn(next, environment), func(id int64) bool {
		return !slices.Contains(used, id)
	})
	return before == 0 || usesAnother || after > before+smallChange, nil
}

// segmentsIn returns the ids of the segments that the strategies of a toggle use in an environment.
func segmentsIn(f toggle.Feature, environment string) (ids []int64) {
	for _, s := range f.Environments[environment].Strategies {
		ids = append(ids, s.Segments...)
	}
	return ids
}

// checkSegments returns an error if a strategy names a segment that does not exist, and that the toggle did not use.
func (t *transaction) checkSegments(ctx context.Context, e *edit) error {
	used := e.old.Segments()
	var added []string
	for _, id := range e.next.Segments() {
		if !slices.Contains(used, id) {
			added = append(added, segmenttable.Name(id))
		}
	}
	if len(added) == 0 {
		return nil
	}
	found, err := t.store.segmentReferences.Read(ctx, added)
	if err != nil {
		return err
	}
	for _, environment := range e.next.Environments {
		for _, s := range environment.Strategies {
			for _, id := range s.Segments {
				if _, exists := found[segmenttable.Name(id)]; !exists && !slices.Contains(used, id) {
					return &PartError{s.ID, noSegment(id)}
				}
			}
		}
	}
	return nil
}

// noSegment returns the error for a strategy with a segment that does not exist.
func noSegment(id int64) error {
	return apierror.Invalid(apierror.At("/body/segments",
		"must have the ids of segments; there is no segment with the id %d", id))
}

// constrained returns the context fields that the transaction constrains.
func (t *transaction) constrained() []string { return slices.Sorted(maps.Keys(t.fields)) }

// addFields adds the conditions that the fields of constraints have not changed.
func (t *transaction) addFields() {
	for _, name := range t.constrained() {
		t.actions.Add(actionField, t.store.fields.Unchanged(t.fields[name]))
	}
}

// checkLimits returns an error if a change exceeds a limit of toggles.
func checkLimits(old, next toggle.Feature) error {
	if n := len(next.ContextFields); n > toggle.MaxContextFields && n > len(old.ContextFields) {
		return apierror.Invalid(apierror.At("/body", "must not make the toggle use more than %d context fields; "+
			"it would use %d. Remove other fields from its strategies first", toggle.MaxContextFields, n))
	}
	if n := len(next.Segments()); n > toggle.MaxSegments && n > len(old.Segments()) {
		return apierror.Invalid(apierror.At("/body/segments", "must not make the toggle use more than %d segments; it would "+
			"use %d. Remove other segments from its strategies first", toggle.MaxSegments, n))
	}
	if next.Environments == nil {
		return nil
	}
	text, err := json.Marshal(next.Environments)
	if err != nil {
		return fmt.Errorf("measure the state of the toggle %q: %w", next.Name, err)
	}
	if len(text) > MaxState {
		return apierror.Invalid(apierror.At("/body", "must not make the strategies of the toggle larger than %d bytes in "+
			"all environments; they would have %d. Delete strategies first, or use segments", MaxState, len(text)))
	}
	return nil
}

// checkFields returns an error if a strategy names a context field that does not exist, has a value that is not legal,
// or a stickiness that the field does not have.
func checkFields(s toggle.Strategy, fields map[string]contextfield.ContextField) error {
	if err := constraint.CheckFields("/body/constraints", s.Constraints, fields); err != nil {
		return err
	}
	stickiness, has := s.Parameters[toggle.ParameterStickiness]
	if has && !constraint.PermitsStickiness(stickiness, fields) {
		return apierror.Invalid(apierror.At("/body/parameters/stickiness",
			"must be default, random, userId, sessionId or a context field with stickiness").Sent(stickiness))
	}
	return nil
}
