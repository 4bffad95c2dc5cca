package contextfield

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// loss is what a change of a field takes away from strategies and segments.
type loss struct {
	field      ContextField // after the change
	values     bool         // some values are no longer legal
	stickiness bool
}

// lossOf returns what a change takes away. nil: nothing. A deletion takes the stickiness away.
func lossOf(old, next ContextField, deleted bool) *loss {
	l := loss{field: next}
	l.stickiness = old.Stickiness && (deleted || !next.Stickiness) && !isAlwaysSticky(old.Name)
	l.values = !deleted && len(next.LegalValues) > 0 && (len(old.LegalValues) == 0 ||
		slices.ContainsFunc(old.LegalValues, func(v LegalValue) bool { return !next.Permits(toggle.OperatorIn, v.Value) }))
	if !l.stickiness && !l.values {
		return nil
	}
	return &l
}

// isAlwaysSticky reports whether strategies can have a stickiness without a context field with the name.
func isAlwaysSticky(name string) bool {
	return name == toggle.FieldUserID || name == toggle.FieldSessionID
}

// affects reports whether constraints have a value that is no longer legal.
func (l *loss) affects(constraints []toggle.Constraint) bool {
	return l.values && slices.ContainsFunc(constraints, func(c toggle.Constraint) bool {
		return c.ContextName == l.field.Name &&
			slices.ContainsFunc(c.Values, func(value string) bool { return !l.field.Permits(c.Operator, value) })
	})
}

// inUse returns the error of the kind Conflict for a field that toggles or segments use, which it names. It reads all of
// them.
func (s *Store) inUse(ctx context.Context, f ContextField) error {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return err
	}
	rows, err := featuretable.Scan(ctx, s.client, s.features, func(row featuretable.Row) bool {
		return !row.Toggle.Archived && slices.Contains(row.Toggle.ContextFields, f.Name) && visible(row.Toggle.Project)
	})
	if err != nil {
		return err
	}
	all, err := segmenttable.Scan(ctx, s.client, s.segments)
	if err != nil {
		return fmt.Errorf("find the segments that use a context field: %w", err)
	}
	var segments []string
	hidden := int64(0)
	for _, found := range all {
		switch {
		case !slices.ContainsFunc(found.Constraints, func(c toggle.Constraint) bool { return c.ContextName == f.Name }):
		case found.Project == nil || visible(*found.Project):
			segments = append(segments, found.Name)
		default:
			hidden++
		}
	}
	slices.Sort(segments)
	toggles, used := f.References.In(visible).Toggles(), f.References.Segments-hidden
	message := fmt.Sprintf("The context field %q is in use", apierror.Echo(f.Name))
	if toggles+used > 0 {
		message += fmt.Sprintf(". The number of toggles with a constraint on it, without archived ones, is %d, and the number "+
			"of segments is %d", toggles, used)
	}
	if names := append(featuretable.Names(rows), segments...); len(names) > 0 {
		message += ": " + apierror.Listed(names)
	}
	return apierror.New(apierror.Conflict, message+".")
}

// selects reports whether a toggle can have a strategy that uses what is lost.
func (l *loss) selects(row featuretable.Row) bool {
	return !row.Toggle.Archived && (l.stickiness || toggle.IsFixedField(l.field.Name) ||
		slices.Contains(row.Toggle.ContextFields, l.field.Name))
}

// checkLoss returns an error of the kind Conflict if strategies of toggles that are not archived, or segments, use what
// a change takes away. It counts those that the caller sees. It reads all toggles and segments, consistently. The
// transaction of the change needs the condition that the version of the field's references has not changed since it was
// read, before this call.
func (s *Store) checkLoss(ctx context.Context, l *loss) error {
	rows, err := featuretable.Scan(ctx, s.client, s.features, l.selects)
	if err != nil {
		return err
	}
	features, err := featuretable.Features(rows)
	if err != nil {
		return err
	}
	visible, err := access.Visibility(ctx)
	if err != nil {
		return err
	}
	strategies, segments, hidden := 0, 0, false
	for _, f := range features {
		for _, environment := range f.Environments {
			for _, strategy := range environment.Strategies {
				sticky := l.stickiness && strategy.Parameters[toggle.ParameterStickiness] == l.field.Name
				switch {
				case !sticky && !l.affects(strategy.Constraints):
				case visible(f.Project):
					strategies++
				default:
					hidden = true
				}
			}
		}
	}
	all, err := segmenttable.Scan(ctx, s.client, s.segments)
	if err != nil {
		return fmt.Errorf("find the segments that use a context field: %w", err)
	}
	for _, found := range all {
		switch {
		case !l.affects(found.Constraints):
		case found.Project == nil || visible(*found.Project):
			segments++
		default:
			hidden = true
		}
	}
	if strategies+segments == 0 && !hidden {
		return nil
	}
	message := fmt.Sprintf("The context field %q cannot lose its stickiness or a legal value that is in use.",
		apierror.Echo(l.field.Name))
	if strategies+segments > 0 {
		message += fmt.Sprintf(" The number of strategies that use them, without those of archived toggles, is %d, and the "+
			"number of segments is %d.", strategies, segments)
	}
	return apierror.New(apierror.Conflict, message)
}
