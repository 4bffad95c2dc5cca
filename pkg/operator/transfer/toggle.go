package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// resources are what toggles can use after the import.
type resources struct {
	types        map[string]toggle.Type
	fields       map[string]contextfield.ContextField
	environments map[string]Environment
	listed       []Environment // in the document
	howToCreate  func(environment string) string
	projects     map[string]Project
	segments     map[int64]Segment // by their ids in the document
	tagTypes     map[string]TagType
	owners       owners

	now   string        // the time of creation of a toggle that has none
	newID func() string // returns the id of a strategy that has none

	dependencies dependencies
	turnedOff    map[string][]string        // Document.TurnedOff
	lacking      map[string]map[string]bool // the environments in which toggles lack something, as far as they are known
}

// checkToggle returns why a toggle cannot be imported, or nil.
func (r resources) checkToggle(t toggle.FeatureJSON) error {
	if err := toggle.CheckFeatureName(t.Name); err != nil {
		return fmt.Errorf("its name is not valid: %w", err)
	}
	if err := toggle.CheckName(t.Project); err != nil {
		return fmt.Errorf("its project %.50q is not valid: %w", t.Project, err)
	}
	if err := checkProject(t.Project, r.projects); err != nil {
		return err
	}
	if _, exists := r.types[toggle.NormalTypeID(t.Type)]; !exists {
		return fmt.Errorf("its type %.50q does not exist here", toggle.NormalTypeID(t.Type))
	}
	return nil
}

// prepareToggle returns a toggle as it will be stored. old is the stored toggle, or nil.
func prepareToggle(t toggle.FeatureJSON, old *toggle.FeatureJSON, r resources) (toggle.FeatureJSON, remarks, error) {
	var about remarks
	t.Type = toggle.NormalTypeID(t.Type)
	if err := r.checkToggle(t); err != nil {
		return t, about, err
	}
	var invalid error
	for _, at := range []**string{&t.CreatedAt, &t.ArchivedAt} {
		var err error
		*at, err = normalTime(*at)
		invalid = errors.Join(invalid, err)
	}
	if invalid != nil {
		return t, about, invalid
	}
	about.cutOptional(&t.Description, "its description", toggle.MaxDescription)
	about.cutOptional(&t.CreatedBy, "the name of its creator", toggle.MaxText)
	r.prepareTags(&t, &about)
	r.prepareOwner(&t, &about)
	if err := prepareKeep(&t, &about); err != nil {
		return t, about, err
	}
	hasLinks := t.Links != nil
	r.prepareLinks(&t, old, &about)
	states, _ := prepareStates(&t, old, r)
	about.add(states)
	about.add(r.dependencies.prepare(&t, old, r.lacks))
	if !t.Archived {
		t.ArchivedAt = nil
	}
	if old != nil {
		if t.CreatedAt != nil && *t.CreatedAt != *old.CreatedAt {
			about.note("its time of creation stays %s, and does not become %s", *old.CreatedAt, *t.CreatedAt)
		}
		t.CreatedAt, t.CreatedBy = old.CreatedAt, old.CreatedBy // cannot be changed
		t.ManagedBy, t.Owner = cmp.Or(t.ManagedBy, old.ManagedBy), cmp.Or(t.Owner, old.Owner)
		if t.KeepUntil == "" {
			t.KeepUntil, t.KeepReason = old.KeepUntil, old.KeepReason
		}
		if !hasLinks {
			t.Links = old.Links
		}
		if t.Archived && t.ArchivedAt == nil {
			t.ArchivedAt = old.ArchivedAt
		}
	}
	if t.CreatedAt == nil {
		t.CreatedAt = &r.now
	}
	return t, about, nil
}

// lacks reports whether a toggle of the document is imported in an environment so that it is on for fewer users there.
func (r resources) lacks(name, environment string) bool {
	t, imported := r.dependencies.imported[name]
	if !imported {
		return false
	}
	if _, known := r.lacking[name]; !known {
		r.newID = func() string { return "" } // nothing is stored
		_, lacking := prepareStates(&t, nil, r)
		r.lacking[name] = lacking
	}
	return r.lacking[name][environment] || slices.Contains(r.turnedOff[name], environment)
}

// prepareStates sets the states of a toggle in the environments, and the context fields that it uses. Environments that
// the document does not have keep the state that they have here. lacking are the environments in which something is left
// out.
func prepareStates(t, old *toggle.FeatureJSON, r resources) (about remarks, lacking map[string]bool) {
	p := preparation{resources: r, feature: t.Name, leftOut: map[string]bool{}}
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
		reason := r.whyNotIn(name, t.Project)
		if reason == "" {
			states[name] = p.environment(name, e)
		} else if e.Enabled || len(e.Strategies) > 0 {
			p.lose("its state in the environment %.100q was not imported: %s", name, reason)
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
	others = p.knownFields(others, exist, toggle.MaxContextFields-len(state.ContextFields))
	t.ContextFields = append([]string{}, slices.Sorted(slices.Values(append(others, state.ContextFields...)))...)
	t.Environments = state.Environments
	return p.remarks, p.leftOut
}

// whyNotIn returns why the toggles of a project cannot have a state in an environment, or an empty text if they can.
func (r resources) whyNotIn(environment, project string) string {
	if _, exists := r.environments[environment]; !exists {
		return "the environment does not exist here" + r.howToCreate(environment)
	}
	if p := (&access.Project{Environments: r.projects[project].Environments}); !p.HasEnvironment(environment) {
		return "its project does not have the environment here"
	}
	return ""
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

// knownFields returns the names of those fields that exist (nil: all), at most room, sorted, and notes the others.
func (r *remarks) knownFields(names []string, exist map[string]contextfield.ContextField, room int) []string {
	known := []string{}
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
		r.note("it uses context fields that do not exist: %s", strings.Join(unknown, ", "))
	}
	if len(more) > 0 {
		r.note("it uses more than %d context fields, and was imported without %s", toggle.MaxContextFields,
			strings.Join(more, ", "))
	}
	return known
}

// toggleImport imports the toggles of a document.
type toggleImport struct {
	Installation
	document Document
	options  Options
	known    resources
	sources  map[string]toggle.FeatureJSON
	stored   map[string]toggle.Feature // before the import
	names    map[string]bool           // of the toggles that exist after the import
	kept     map[string]bool           // that were changed here

	// held are the states of toggles that are turned on with their dependency: without it, they would be on for too many.
	held map[string]map[string]toggle.Environment
}

// importToggles imports the toggles of a document. It returns the names of those that were changed here since the last
// import, and are left as they are. features and stored are the toggles that are stored.
func (i Installation) importToggles(
	ctx context.Context, d Document, o Options, features map[string]toggle.Feature, stored []toggle.FeatureJSON,
	known resources, s *Section,
) (changedHere []string, err error) {
	known.dependencies = planDependencies(d, stored, known.checkToggle)
	known.turnedOff, known.lacking = d.TurnedOff, map[string]map[string]bool{}
	n := &toggleImport{
		Installation: i, document: d, options: o, known: known, sources: map[string]toggle.FeatureJSON{}, stored: features,
		names: map[string]bool{}, kept: map[string]bool{}, held: map[string]map[string]toggle.Environment{},
	}
	for _, t := range d.Features {
		n.sources[t.Name] = t
	}
	for name := range features {
		n.names[name] = true
	}
	// Children whose dependency ends are first, because their parents can be archived or moved then.
	all := slices.Clone(d.Features)
	releases := func(t toggle.FeatureJSON) bool { return known.dependencies.releases(t, features[t.Name].JSON()) }
	slices.SortStableFunc(all, func(a, b toggle.FeatureJSON) int { return compareBool(releases(b), releases(a)) })
	toggles := merge[toggle.FeatureJSON]{
		id: func(t toggle.FeatureJSON) string { return t.Name }, prepare: n.prepare, create: n.create,
		read: func(ctx context.Context, name string) (toggle.FeatureJSON, error) {
			f, err := i.Features.Get(ctx, name)
			return f.JSON(), err
		},
		update: n.update,
	}
	written, err := toggles.run(ctx, o, "toggles", stored, all, s)
	if err != nil {
		return n.changedHere(), err
	}
	if err := i.importLastSeen(ctx, d, o, known, s); err != nil {
		return n.changedHere(), err
	}
	// A toggle that has a dependency gets another one before it becomes a parent.
	slices.SortStableFunc(all, func(a, b toggle.FeatureJSON) int {
		return compareBool(written[b.Name].Dependency != nil, written[a.Name].Dependency != nil)
	})
	if err := n.importDependencies(ctx, all, written, s); err != nil {
		return n.changedHere(), err
	}
	return n.changedHere(), n.imprintUnchanged(ctx, all, written, s)
}

// changedHere returns the names of the toggles that were kept, sorted.
func (n *toggleImport) changedHere() []string {
	return append([]string{}, slices.Sorted(maps.Keys(n.kept))...)
}

// isChangedHere reports whether the import leaves a stored toggle as it is.
func (n *toggleImport) isChangedHere(stored toggle.Feature, t toggle.FeatureJSON) bool {
	return n.document.Kept && !n.options.Overwrite && changedHere(stored.JSON(), t, stored.Imported,
		func(environment string) bool { _, exists := n.known.environments[environment]; return exists })
}

// prepare is merge.prepare of toggles. Its error is errChangedHere if the document has another state than one that was
// changed here.
func (n *toggleImport) prepare(t toggle.FeatureJSON, old *toggle.FeatureJSON) (toggle.FeatureJSON, remarks, error) {
	prepared, about, err := prepareToggle(t, old, n.known)
	limit := n.FeatureLimit
	switch {
	case err != nil:
		return prepared, about, err
	case !n.names[t.Name] && limit > 0 && int64(len(n.names)) >= limit:
		return prepared, about, fmt.Errorf("the maximum number of toggles (MaxFeatures = %d), including archived ones, is reached",
			limit)
	}
	n.names[t.Name] = true
	if old != nil && n.isChangedHere(n.stored[t.Name], prepared) {
		properties, err := differing(*old, prepared)
		if err == nil && (len(properties) > 0 || n.known.dependencies.changes(t.Name, old.Dependency)) {
			n.kept[t.Name] = true
			err = errChangedHere
		}
		if err != nil {
			return prepared, about, err
		}
	}
	n.hold(&prepared, old)
	about.add(remarks{losses: n.document.Losses[t.Name], notes: n.document.Notes[t.Name]})
	return prepared, about, nil
}

// hold leaves a toggle off that is turned on, until it has its dependency.
func (n *toggleImport) hold(t, old *toggle.FeatureJSON) {
	var stored toggle.FeatureJSON
	if old != nil {
		stored = *old
	}
	if !n.known.dependencies.changes(t.Name, stored.Dependency) {
		return
	}
	state := toggle.Feature{Environments: t.Environments}
	for _, name := range state.EnabledEnvironments() {
		if stored.Environments[name].Enabled && !stored.Archived {
			continue
		}
		n.held[t.Name] = t.Environments
		e := state.Environments[name]
		e.Enabled = false
		state.SetEnvironment(name, e)
	}
	t.Environments = state.Environments
}

// assign returns a stored toggle with what an import can change.
func (n *toggleImport) assign(t toggle.FeatureJSON, f toggle.Feature) toggle.Feature {
	f.Project, f.Type, f.Description, f.ImpressionData = t.Project, t.Type, t.Description, t.ImpressionData
	f.Tags = slices.Clone(t.Tags)
	// What the document does not say stays, also if it was changed since the toggle was read.
	said := n.sources[t.Name]
	if said.ManagedBy != "" {
		f.ManagedBy = t.ManagedBy
	}
	if said.Owner != nil {
		f.Owner = t.Owner
	}
	if said.KeepUntil != "" {
		f.Keep = keepOf(t)
	}
	if said.Links != nil {
		f.Links = slices.Clone(t.Links)
	}
	f.Stale, f.Archived, f.ArchivedAt = t.Stale, t.Archived, parsed(t.ArchivedAt)
	f.Environments, f.ContextFields = maps.Clone(t.Environments), slices.Clone(t.ContextFields)
	if t.Dependency == nil { // otherwise importDependencies decides it
		f.Dependency = nil
	}
	if n.document.Kept {
		f.Imported = imprint(t, n.environmentsOf(t.Name), f.Imported)
	}
	return f
}

// environmentsOf returns the environments whose state the document says of a toggle.
func (n *toggleImport) environmentsOf(name string) []string {
	return n.known.environmentsOf(n.sources[name])
}

// create creates a prepared toggle.
func (n *toggleImport) create(ctx context.Context, t toggle.FeatureJSON) error {
	f := n.assign(t, toggle.Feature{Name: t.Name, CreatedAt: *parsed(t.CreatedAt)})
	if t.CreatedBy != nil {
		f.CreatedBy = &toggle.Creator{Name: *t.CreatedBy}
	}
	_, err := n.Features.Create(ctx, f)
	return err
}

// update makes a stored toggle as a prepared one. A toggle that is revived is off in all environments, so that a second
// update turns it on. The error is errChangedHere if the toggle was changed since it was read.
func (n *toggleImport) update(ctx context.Context, t toggle.FeatureJSON) error {
	stored, err := n.Features.Update(ctx, t.Name, func(f toggle.Feature) (toggle.Feature, error) {
		if n.isChangedHere(f, t) {
			n.kept[t.Name] = true
			return f, errChangedHere
		}
		return n.assign(t, f), nil
	})
	if err == nil && !reflect.DeepEqual(stored.Environments, t.Environments) {
		_, err = n.Features.Update(ctx, t.Name, func(f toggle.Feature) (toggle.Feature, error) { return n.assign(t, f), nil })
	}
	return err
}

// imprintUnchanged stores the imprints of toggles that are as in the document without this import, such as those that
// were changed in the same way here. Otherwise the next import would take them for changed here only.
func (n *toggleImport) imprintUnchanged(
	ctx context.Context, all []toggle.FeatureJSON, written map[string]toggle.FeatureJSON, s *Section,
) error {
	if !n.document.Kept || n.options.DryRun {
		return nil
	}
	for _, t := range all {
		f, existed := n.stored[t.Name]
		if !existed || n.kept[t.Name] || s.skips(t.Name) || s.isUpdated(t.Name) {
			continue
		}
		if now := imprint(written[t.Name], n.environmentsOf(t.Name), f.Imported); now != f.Imported {
			if err := n.Features.SetImported(ctx, f, now); err != nil {
				return err
			}
		}
	}
	return nil
}
