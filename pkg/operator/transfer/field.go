package transfer

import (
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/toggle"
)

// fieldsWanted is what the strategies and segments of a document need of context fields although the installation where
// it comes from does not have it: Unleash evaluates strategies with every field, stickiness and value.
type fieldsWanted struct {
	used    map[string]bool // all that strategies and segments use
	missing map[string]bool
	sticky  map[string]bool
	values  map[string][]string // that are no legal values
}

// about returns remarks about a field that is created or marked. old is the stored field, or nil.
func (w fieldsWanted) about(name string, old *ContextField) (about remarks) {
	switch {
	case w.missing[name] && old == nil:
		about.note("it was created, because strategies or segments use it")
	case w.sticky[name] && (old == nil || !old.Stickiness):
		about.note("it was marked as a field with stickiness, because strategies use it so")
	}
	for _, value := range w.values[name] {
		if old == nil || !old.stored().Permits(toggle.OperatorIn, value) {
			about.note("the legal value %.100q was added, because strategies or segments use it", value)
		}
	}
	return about
}

// wantFields adds the context fields that strategies and segments of the document use, with the values of constraints, and
// marks those that strategies use for stickiness. stored are the fields that exist here. A name that is not valid is left
// out.
func (d *Document) wantFields(stored []ContextField) fieldsWanted {
	used, sticky := map[string]bool{}, map[string]bool{}
	var constraints []toggle.Constraint
	constrain := func(all []toggle.Constraint) {
		constraints = append(constraints, all...)
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
	w := fieldsWanted{used: used, missing: map[string]bool{}, sticky: map[string]bool{}, values: map[string][]string{}}
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
	for _, c := range constraints {
		i := slices.IndexFunc(fields, func(f ContextField) bool { return f.Name == c.ContextName })
		if i < 0 {
			continue
		}
		f := fields[i].stored()
		for _, value := range c.Values {
			value = strings.TrimSpace(value)
			if !f.Permits(c.Operator, value) && checkValue(c.Operator, value) == nil {
				f.LegalValues = append(f.LegalValues, contextfield.LegalValue{Value: value})
				w.values[f.Name] = append(w.values[f.Name], value)
			}
		}
		fields[i].LegalValues = fromField(f).LegalValues
	}
	d.ContextFields = fields
	return w
}
