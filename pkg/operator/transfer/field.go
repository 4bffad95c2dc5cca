package transfer

import (
	"maps"
	"slices"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/toggle"
)

// fieldsWanted are the context fields that the strategies and segments of a document use although the installation where
// it comes from does not have them, or does not mark them for stickiness: Unleash accepts every name.
type fieldsWanted struct {
	missing map[string]bool
	sticky  map[string]bool
}

// about returns remarks about a field that is created or marked. old is the stored field, or nil.
func (w fieldsWanted) about(name string, old *ContextField) (about remarks) {
	switch {
	case w.missing[name] && old == nil:
		about.note("it was created, because strategies or segments use it")
	case w.sticky[name] && (old == nil || !old.Stickiness):
		about.note("it was marked as a field with stickiness, because strategies use it so")
	}
	return about
}

// wantFields adds the context fields that strategies and segments of the document use, and marks those that strategies
// use for stickiness. stored are the fields that exist here. A name that is not valid is left out.
func (d *Document) wantFields(stored []ContextField) fieldsWanted {
	used, sticky := map[string]bool{}, map[string]bool{}
	constrain := func(all []toggle.Constraint) {
		for _, name := range constraint.Fields(all) {
			used[name] = true
		}
	}
	for _, t := range d.Features {
		for _, e := range t.Environments {
			for _, s := range e.Strategies {
				constrain(s.Constraints)
				stickiness := s.Parameters[toggle.ParameterStickiness]
				if s.Name == toggle.StrategyFlexibleRollout && constraint.IsStickinessField(stickiness) {
					used[stickiness], sticky[stickiness] = true, true
				}
			}
		}
	}
	for _, s := range d.Segments {
		constrain(s.Constraints)
	}
	w := fieldsWanted{map[string]bool{}, map[string]bool{}}
	fields := slices.Clone(d.ContextFields)
	last := int64(0)
	for _, f := range slices.Concat(fields, stored) {
		last = max(last, f.SortOrder)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		isNamed := func(f ContextField) bool { return f.Name == name }
		i, here := slices.IndexFunc(fields, isNamed), slices.IndexFunc(stored, isNamed)
		switch {
		case i >= 0:
		case here >= 0 && (stored[here].Stickiness || !sticky[name]):
			continue
		case here >= 0:
			i, fields = len(fields), append(fields, stored[here])
		case toggle.CheckName(name) == nil:
			w.missing[name] = true
			last++
			i, fields = len(fields), append(fields, ContextField{Name: name, SortOrder: last})
		default:
			continue
		}
		if sticky[name] && !fields[i].Stickiness {
			fields[i].Stickiness, w.sticky[name] = true, true
		}
	}
	d.ContextFields = fields
	return w
}
