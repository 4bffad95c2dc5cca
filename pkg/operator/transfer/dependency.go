package transfer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// dependencies are the dependencies of toggles after an import.
type dependencies struct {
	toggles  map[string]toggle.FeatureJSON // by name, as the document has them, or else as they are stored
	imported map[string]toggle.FeatureJSON // those of the document
	wanted   map[string]*toggle.Dependency // of the toggles of the document, by name
	blocked  map[string]error              // why a dependency cannot be imported, by the name of the toggle
}

// planDependencies decides which dependencies of a document can be imported. check returns why a toggle of the document
// cannot be.
func planDependencies(d Document, stored []toggle.FeatureJSON, check func(toggle.FeatureJSON) error) dependencies {
	p := dependencies{
		toggles: map[string]toggle.FeatureJSON{}, imported: map[string]toggle.FeatureJSON{},
		wanted: map[string]*toggle.Dependency{}, blocked: map[string]error{},
	}
	for _, t := range stored {
		p.toggles[t.Name] = t
	}
	for _, t := range d.Features {
		if check(t) == nil {
			p.toggles[t.Name], p.imported[t.Name] = t, t
		}
	}
	for _, t := range d.Features {
		if t.Dependency == nil || p.wanted[t.Name] != nil {
			continue
		}
		p.wanted[t.Name] = t.Dependency
		if err := p.check(t); err != nil {
			p.blocked[t.Name] = err
		}
	}
	// A toggle with a parent keeps children that the document does not have.
	for _, t := range p.toggles {
		if t.Dependency == nil || p.wanted[t.Name] != nil {
			continue
		}
		if parent := t.Dependency.Feature; p.wanted[parent] != nil && p.blocked[parent] == nil {
			p.blocked[parent] = fmt.Errorf("the toggle %.100q depends on it", t.Name)
		}
	}
	return p
}

// check returns why the dependency of a toggle of the document cannot be imported.
func (p dependencies) check(t toggle.FeatureJSON) error {
	parent, exists := p.toggles[t.Dependency.Feature]
	switch {
	case !exists:
		return errors.New("the toggle does not exist here")
	case parent.Name == t.Name:
		return errors.New("a toggle cannot depend on itself")
	case parent.Project != t.Project:
		return fmt.Errorf("the toggle belongs to the project %.100q", parent.Project)
	case parent.Archived:
		return errors.New("the toggle is archived")
	case parent.Dependency != nil:
		return fmt.Errorf("the toggle depends on the toggle %.100q", parent.Dependency.Feature)
	case len(t.Dependency.Variants) > 0 && t.Dependency.Enabled && len(variantsOf(*t.Dependency, parent)) == 0:
		return errors.New("the toggle has none of the variants")
	}
	return nil
}

// variantsOf returns the variants of a dependency that the parent has.
func variantsOf(d toggle.Dependency, parent toggle.FeatureJSON) []string {
	known := toggle.Feature{Environments: parent.Environments}.VariantNames()
	return slices.DeleteFunc(slices.Clone(d.Variants), func(name string) bool { return !slices.Contains(known, name) })
}

// releases reports whether the dependency that a toggle has here must end before other toggles can be written.
func (p dependencies) releases(t, old toggle.FeatureJSON) bool {
	wanted := p.wanted[t.Name]
	switch {
	case old.Dependency == nil:
		return false
	case wanted == nil, p.blocked[t.Name] != nil, t.Project != old.Project:
		return true
	}
	parent := p.toggles[old.Dependency.Feature]
	return wanted.Feature != parent.Name && (parent.Archived || parent.Project != old.Project)
}

// prepare leaves the dependency of a toggle as it is here until all toggles are written, or ends it. A toggle whose
// dependency cannot be imported is turned off, because SDKs evaluate the original as off. lacks reports whether a toggle
// is on for fewer users here than in the document, in an environment: one that must be off would be on for more.
func (p dependencies) prepare(
	t, old *toggle.FeatureJSON, lacks func(name, environment string) bool,
) (about remarks) {
	t.Dependency = nil
	if old != nil && !p.releases(*t, *old) {
		t.Dependency = old.Dependency
	}
	wanted, why := p.wanted[t.Name], p.blocked[t.Name]
	if wanted == nil {
		return about
	}
	state := toggle.Feature{Environments: t.Environments}
	var off []string
	for _, name := range state.EnabledEnvironments() {
		if why == nil && (wanted.Enabled || !lacks(wanted.Feature, name)) {
			continue
		}
		e := state.Environments[name]
		e.Enabled = false
		state.SetEnvironment(name, e)
		off = append(off, name)
	}
	switch {
	case why != nil:
		about.lose("%s", notSet(wanted.Feature, why, off))
	case off != nil:
		about.lose("its parent %.100q must be off, and is on for fewer users here: it was turned off in %s", wanted.Feature,
			strings.Join(off, ", "))
	}
	t.Environments = state.Environments
	return about
}

// notSet says that a dependency is not imported, why, and in which environments the toggle was turned off.
func notSet(parent string, why error, off []string) string {
	text := fmt.Sprintf("its dependency on the toggle %.100q was not imported: %v", parent, why)
	if len(off) > 0 {
		text += ". It was turned off in " + strings.Join(off, ", ")
	}
	return text
}

// changes reports whether a toggle gets another dependency than the stored one.
func (p dependencies) changes(name string, stored *toggle.Dependency) bool {
	wanted := p.wanted[name]
	if wanted == nil || p.blocked[name] != nil {
		return false // prepare decides it
	}
	if stored == nil {
		return true
	}
	return stored.Feature != wanted.Feature || stored.Enabled != wanted.Enabled ||
		wanted.Enabled && !reflect.DeepEqual(stored.Variants, p.normal(*wanted).Variants)
}

// normal returns a dependency of the document as it is stored.
func (p dependencies) normal(d toggle.Dependency) toggle.Dependency {
	d = *toggle.Feature{Dependency: &d}.Normalized().Dependency
	d.Variants = append([]string{}, variantsOf(d, p.toggles[d.Feature])...)
	if !d.Enabled {
		d.Variants = []string{} // SDKs ignore them
	}
	return d
}

// importDependencies sets the dependencies of toggles that were written. written are the toggles as they are stored. A
// toggle whose dependency cannot be set is turned off.
func (n *toggleImport) importDependencies(
	ctx context.Context, toggles []toggle.FeatureJSON, written map[string]toggle.FeatureJSON, s *Section,
) error {
	p, done := n.known.dependencies, map[string]bool{}
	p.toggles = written
	for _, t := range toggles {
		wanted, stored := p.wanted[t.Name], written[t.Name]
		if wanted == nil || p.blocked[t.Name] != nil || done[t.Name] || s.skips(t.Name) || n.kept[t.Name] {
			continue
		}
		done[t.Name] = true
		d := p.normal(*wanted)
		var why error
		switch {
		case d.Enabled && len(d.Variants) == 0 && len(wanted.Variants) > 0: // they were of strategies that were left out
			why = errors.New("the toggle has none of the variants here")
		case reflect.DeepEqual(stored.Dependency, &d):
			continue
		case !n.options.DryRun:
			err := n.change(ctx, t.Name, func(f *toggle.Feature) {
				f.Dependency = &d
				if held := n.held[t.Name]; held != nil {
					f.Environments = held
				}
			})
			if isRejected(err) || apierror.KindOf(err) == apierror.NotFound {
				why = exitstatus.Explain(err)
			} else if err != nil {
				return fmt.Errorf("import dependencies: %q: %w", t.Name, err)
			}
		}
		if why != nil {
			if err := n.turnOff(ctx, stored, d.Feature, why, s); err != nil {
				return fmt.Errorf("import dependencies: %q: %w", t.Name, err)
			}
			continue
		}
		stored.Dependency = &d
		if held := n.held[t.Name]; held != nil {
			stored.Environments = held
		}
		written[t.Name] = stored
		s.update(t.Name, "dependency")
	}
	return nil
}

// turnOff turns a toggle off whose dependency cannot be set, and lists it.
func (n *toggleImport) turnOff(
	ctx context.Context, t toggle.FeatureJSON, parent string, why error, s *Section,
) error {
	if held := n.held[t.Name]; held != nil {
		t.Environments = held
	}
	off := toggle.Feature{Environments: t.Environments}.EnabledEnvironments()
	s.Losses = append(s.Losses, Remark{t.Name, notSet(parent, why, off)})
	if n.options.DryRun {
		return nil
	}
	return n.change(ctx, t.Name, func(f *toggle.Feature) {
		for _, name := range f.EnabledEnvironments() {
			e := f.Environments[name]
			e.Enabled = false
			f.SetEnvironment(name, e)
		}
	})
}

// change changes a toggle that was written. It remains one that was not changed here.
func (n *toggleImport) change(ctx context.Context, name string, change func(*toggle.Feature)) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err := n.Features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
		environments := n.environmentsOf(name)
		isImported := n.document.Kept && f.Imported == imprint(f.JSON(), environments, f.Imported)
		change(&f)
		if isImported {
			f.Imported = imprint(f.JSON(), environments, f.Imported)
		}
		return f, nil
	})
	return err
}
