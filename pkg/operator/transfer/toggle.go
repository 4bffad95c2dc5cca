package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/toggle"
)

// resources are what toggles can use after the import.
type resources struct {
	types        map[string]toggle.Type
	fields       map[string]contextfield.ContextField
	environments map[string]Environment
	listed       []Environment     // in the document
	segments     map[int64]Segment // by their ids in the document

	now   string        // the time of creation of a toggle that has none
	newID func() string // returns the id of a strategy that has none

	dependencies dependencies
}

// checkToggle returns why a toggle cannot be imported, or nil.
func (r resources) checkToggle(t toggle.FeatureJSON) error {
	if err := toggle.CheckFeatureName(t.Name); err != nil {
		return fmt.Errorf("its name is not valid: %w", err)
	}
	if err := toggle.CheckName(t.Project); err != nil {
		return fmt.Errorf("its project %.50q is not valid: %w", t.Project, err)
	}
	if _, exists := r.types[toggle.NormalTypeID(t.Type)]; !exists {
		return fmt.Errorf("its type %.50q does not exist here", toggle.NormalTypeID(t.Type))
	}
	return nil
}

// prepareToggle returns a toggle as it will be stored. old is the stored toggle, or nil.
func prepareToggle(t toggle.FeatureJSON, old *toggle.FeatureJSON, r resources) (toggle.FeatureJSON, []string, error) {
	t.Type = toggle.NormalTypeID(t.Type)
	if err := r.checkToggle(t); err != nil {
		return t, nil, err
	}
	var invalid error
	for _, at := range []**string{&t.CreatedAt, &t.ArchivedAt} {
		var err error
		*at, err = normalTime(*at)
		invalid = errors.Join(invalid, err)
	}
	if invalid != nil {
		return t, nil, invalid
	}
	notes := slices.Concat(cutOptional(&t.Description, "its description", toggle.MaxDescription),
		cutOptional(&t.CreatedBy, "the name of its creator", toggle.MaxText))
	notes = append(notes, prepareStates(&t, old, r)...)
	notes = append(notes, r.dependencies.prepare(&t, old)...)
	if !t.Archived {
		t.ArchivedAt = nil
	}
	if old != nil {
		if t.CreatedAt != nil && *t.CreatedAt != *old.CreatedAt {
			notes = append(notes,
				fmt.Sprintf("its time of creation stays %s, and does not become %s", *old.CreatedAt, *t.CreatedAt))
		}
		t.CreatedAt, t.CreatedBy = old.CreatedAt, old.CreatedBy // cannot be changed
		if t.Archived && t.ArchivedAt == nil {
			t.ArchivedAt = old.ArchivedAt
		}
	}
	if t.CreatedAt == nil {
		t.CreatedAt = &r.now
	}
	return t, notes, nil
}

// prepareStates sets the states of a toggle in the environments, and the context fields that it uses. Environments that
// the document does not have keep the state that they have here.
func prepareStates(t, old *toggle.FeatureJSON, r resources) (notes []string) {
	p := preparation{resources: r, feature: t.Name}
	states := map[string]toggle.Environment{}
	if old != nil {
		p.old = old.Environments
		maps.Copy(states, old.Environments)
	}
	for _, e := range r.listed {
		delete(states, e.Name)
	}
	for name := range t.Environments {
		delete(states, name)
	}
	p.keep(states)
	for _, name := range slices.Sorted(maps.Keys(t.Environments)) {
		e := t.Environments[name]
		if _, exists := r.environments[name]; exists {
			states[name] = p.environment(name, e)
		} else if e.Enabled || len(e.Strategies) > 0 {
			p.note("its state in the environment %.100q was not imported: the environment does not exist here", name)
		}
	}
	state := toggle.Feature{}
	for name, e := range states {
		state.SetEnvironment(name, e)
	}
	source := t
	if t.ContextFields == nil && old != nil {
		source = old
	}
	others := toggle.Feature{Environments: source.Environments, ContextFields: source.ContextFields}.OtherContextFields()
	others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(state.ContextFields, name) })
	exist := r.fields
	if t.Archived {
		exist = nil // it can use fields that are gone
	}
	others, p.notes = knownFields(others, exist, toggle.MaxContextFields-len(state.ContextFields), p.notes)
	t.ContextFields = append([]string{}, slices.Sorted(slices.Values(append(others, state.ContextFields...)))...)
	t.Environments = state.Environments
	return p.notes
}

// usedFields returns the context fields that a toggle uses. They can repeat.
func usedFields(t toggle.FeatureJSON) []string {
	names := slices.Clone(t.ContextFields)
	for _, e := range t.Environments {
		for _, s := range e.Strategies {
			names = append(names, s.ContextFields()...)
		}
	}
	return names
}

// usedSegments returns the segments that toggles use.
func usedSegments(toggles []toggle.FeatureJSON) map[int64]bool {
	ids := map[int64]bool{}
	for _, t := range toggles {
		for _, id := range (toggle.Feature{Environments: t.Environments}).Segments() {
			ids[id] = true
		}
	}
	return ids
}

// knownFields returns the names of those fields that exist (nil: all), at most room, sorted, and adds notes about the
// others.
func knownFields(
	names []string, exist map[string]contextfield.ContextField, room int, notes []string,
) (known, all []string) {
	known = []string{}
	var unknown, more []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		_, exists := exist[name]
		switch {
		case exist != nil && !exists:
			unknown = append(unknown, fmt.Sprintf("%.100q", name))
		case len(known) == room:
			more = append(more, name)
		default:
			known = append(known, name)
		}
	}
	if len(unknown) > 0 {
		notes = append(notes, "it uses context fields that do not exist: "+strings.Join(unknown, ", "))
	}
	if len(more) > 0 {
		notes = append(notes, fmt.Sprintf("it uses more than %d context fields, and was imported without %s",
			toggle.MaxContextFields, strings.Join(more, ", ")))
	}
	return known, notes
}

// assign returns a stored toggle with what an import can change.
func assign(t toggle.FeatureJSON, f toggle.Feature) toggle.Feature {
	f.Project, f.Type, f.Description, f.ImpressionData = t.Project, t.Type, t.Description, t.ImpressionData
	f.Stale, f.Archived, f.ArchivedAt = t.Stale, t.Archived, parsed(t.ArchivedAt)
	f.Environments, f.ContextFields = maps.Clone(t.Environments), slices.Clone(t.ContextFields)
	if t.Dependency == nil { // otherwise importDependencies decides it
		f.Dependency = nil
	}
	return f
}

// createToggle creates a prepared toggle.
func (i Installation) createToggle(ctx context.Context, t toggle.FeatureJSON) error {
	f := assign(t, toggle.Feature{Name: t.Name, CreatedAt: *parsed(t.CreatedAt)})
	if t.CreatedBy != nil {
		f.CreatedBy = &toggle.Creator{Name: *t.CreatedBy}
	}
	_, err := i.Features.Create(ctx, f)
	return err
}

// updateToggle makes a stored toggle as a prepared one.
func (i Installation) updateToggle(ctx context.Context, t toggle.FeatureJSON) error {
	_, err := i.Features.Update(ctx, t.Name, func(f toggle.Feature) (toggle.Feature, error) { return assign(t, f), nil })
	return err
}
