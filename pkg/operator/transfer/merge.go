package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// writeTimeout is the time within which a write must succeed. Failed calls of DynamoDB are repeated until then.
const writeTimeout = time.Minute

// merge writes the elements of a document.
type merge[T any] struct {
	id func(T) string
	// prepare returns an element as it will be stored, with remarks, or why it is skipped. old is the stored element, or
	// nil.
	prepare        func(element T, old *T) (T, remarks, error)
	create, update func(context.Context, T) error
	// read returns the stored element with an id. The kind of its error is Conflict if there is none, but another element
	// has what must be unique.
	read func(ctx context.Context, id string) (T, error)
}

// run writes what differs and fills the section. It returns the elements by their ids that are stored then.
func (m merge[T]) run(
	ctx context.Context, o Options, what string, stored, elements []T, s *Section,
) (map[string]T, error) {
	old, known := map[string]*T{}, map[string]T{}
	for _, element := range stored {
		id := m.id(element)
		old[id], known[id] = &element, element
	}
	written := map[string]bool{}
	for n, element := range elements {
		o.Progress(what, n, len(elements))
		id := m.id(element)
		if written[id] {
			s.Skipped = append(s.Skipped, Remark{id, occursTwice})
			continue
		}
		next, skipped, err := m.write(ctx, o, id, element, old[id], s)
		if err != nil {
			return known, fmt.Errorf("import %s: %q: %w", what, id, err)
		}
		if skipped == nil {
			known[id], written[id] = next, true
			continue
		}
		if errors.Is(skipped, errChangedHere) {
			written[id] = true
			s.Unchanged++
			continue
		}
		s.Skipped = append(s.Skipped, Remark{id, skipped.Error()})
	}
	o.Progress(what, len(elements), len(elements))
	return known, nil
}

// write creates or updates one element if it differs from the stored one. It returns the element as it is stored, or why
// it is skipped. If another process has created the element since the installation was read, write compares it with that
// one. If another process has deleted it, write creates it.
func (m merge[T]) write(
	ctx context.Context, o Options, id string, element T, old *T, s *Section,
) (next T, skipped, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	next, about, skipped := m.prepare(element, old)
	if skipped != nil {
		return next, skipped, nil
	}
	write, properties := m.create, []string(nil)
	if old != nil {
		write = m.update
		if properties, err = differing(*old, next); err != nil {
			return next, nil, err
		}
	}
	unchanged := old != nil && len(properties) == 0
	if !unchanged && !o.DryRun {
		err = write(ctx, next)
	}
	if old != nil && apierror.KindOf(err) == apierror.NotFound { // it was deleted since
		return m.write(ctx, o, id, element, nil, s)
	}
	if old == nil && apierror.KindOf(err) == apierror.NameExists {
		created, reading := m.read(ctx, id)
		switch {
		case reading == nil:
			return m.write(ctx, o, id, element, &created, s)
		case apierror.KindOf(reading) == apierror.NotFound: // it was deleted again
			return m.write(ctx, o, id, element, nil, s)
		case apierror.KindOf(reading) != apierror.Conflict:
			return next, nil, reading
		}
	}
	switch {
	case errors.Is(err, errChangedHere):
		return next, errChangedHere, nil
	case isRejected(err):
		return next, exitstatus.Explain(err), nil
	case dynamo.Invalid(err):
		return next, err, nil
	case err != nil:
		return next, nil, err
	case unchanged:
		s.Unchanged++
	case old == nil:
		s.Created = append(s.Created, id)
	default:
		s.Updated = append(s.Updated, Update{id, properties})
	}
	s.add(id, about)
	return next, nil, nil
}

// named returns the element with a name. The kind of its error is Conflict if the name of another element differs in letter
// case only, or else NotFound.
func named[T any](all []T, name string, nameOf func(T) string) (found T, err error) {
	err = apierror.Errorf(apierror.NotFound, "There is nothing with the name %q.", apierror.Echo(name))
	for _, element := range all {
		switch other := nameOf(element); {
		case other == name:
			return element, nil
		case spelling.Fold(other) == spelling.Fold(name):
			err = apierror.New(apierror.Conflict, "Another name differs in letter case only.")
		}
	}
	return found, err
}

// isRejected reports whether an error is that of an element that cannot be written, even if the write is repeated.
func isRejected(err error) bool {
	switch apierror.KindOf(err) {
	case apierror.NoAccess, apierror.ContentTooLarge, apierror.NameExists, apierror.Conflict, apierror.Validation:
		return true
	default:
		return false
	}
}

// differing returns the names of the JSON properties in which two values differ, sorted.
func differing(a, b any) (names []string, err error) {
	properties := [2]map[string]json.RawMessage{}
	for i, v := range []any{a, b} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &properties[i]); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(properties[0])
	maps.Copy(all, properties[1]) // either can leave a property out
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(properties[0][name]) != string(properties[1][name]) {
			names = append(names, name)
		}
	}
	return names, nil
}
