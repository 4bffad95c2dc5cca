package transfer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// dependencies are the dependencies of toggles after an import.
type dependencies struct {
	toggles map[string]toggle.FeatureJSON // by name, as the document has them, or else as they are stored
	wanted  map[string]*toggle.Dependency // of the toggles of the document, by name
	blocked map[string]error              // why a dependency cannot be imported, by the name of the toggle
}

// planDependencies decides which dependencies of a document can be imported. check returns why a toggle of the document
// cannot be.
func planDependencies(d Document, stored []toggle.FeatureJSON, check func(toggle.FeatureJSON) error) dependencies {
	p := dependencies{
		toggles: map[string]toggle.FeatureJSON{}, wanted: map[string]*toggle.Dependency{}, blocked: map[string]error{},
	}
	for _, t := range stored {
		p.toggles[t.Name] = t
	}
	for _, t := range d.Features {
		if check(t) == nil {
			p.toggles[t.Name] = t
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
// dependency cannot be imported is turned off, because SDKs evaluate the original as off.
func (p dependencies) prepare(t, old *toggle.FeatureJSON) (notes []string) {
	t.Dependency = nil
	if old != nil && !p.releases(*t, *old) {
		t.Dependency = old.Dependency
	}
	why := p.blocked[t.Name]
	if why == nil {
		return nil
	}
	note := fmt.Sprintf("its dependency on the toggle %.100q was not imported: %v", p.wanted[t.Name].Feature, why)
	state := toggle.Feature{Environments: t.Environments}
	for _, name := range state.EnabledEnvironments() {
		e := state.Environments[name]
		e.Enabled = false
		state.SetEnvironment(name, e)
		note = fmt.Sprintf("%s. It was turned off in %s", note, name)
	}
	t.Environments = state.Environments
	return []string{note}
}

// importDependencies sets the dependencies of toggles that were written. known are the toggles as they are stored.
func (i Installation) importDependencies(
	ctx context.Context, o Options, p dependencies, toggles []toggle.FeatureJSON, known map[string]toggle.FeatureJSON,
	s *Section,
) error {
	done := map[string]bool{}
	for _, t := range toggles {
		wanted, stored := p.wanted[t.Name], known[t.Name]
		if wanted == nil || p.blocked[t.Name] != nil || done[t.Name] || s.skips(t.Name) {
			continue
		}
		done[t.Name] = true
		d := *toggle.Feature{Dependency: wanted}.Normalized().Dependency
		d.Variants = append([]string{}, variantsOf(d, known[d.Feature])...)
		if !d.Enabled {
			d.Variants = []string{} // SDKs ignore them
		} else if len(d.Variants) == 0 && len(wanted.Variants) > 0 { // they were of strategies that were not imported
			s.Notes = append(s.Notes, Remark{t.Name, fmt.Sprintf(
				"its dependency on the toggle %.100q was not imported: the toggle has none of the variants here", d.Feature)})
			continue
		}
		if reflect.DeepEqual(stored.Dependency, &d) {
			continue
		}
		if !o.DryRun {
			err := i.setDependency(ctx, t.Name, d)
			if isRejected(err) || apierror.KindOf(err) == apierror.NotFound {
				s.Notes = append(s.Notes, Remark{t.Name, fmt.Sprintf("its dependency on the toggle %.100q was not imported: %s",
					d.Feature, apierror.From(err).Message)})
				continue
			}
			if err != nil {
				return fmt.Errorf("import dependencies: %q: %w", t.Name, err)
			}
		}
		s.update(t.Name, "dependency")
	}
	return nil
}

func (i Installation) setDependency(ctx context.Context, name string, d toggle.Dependency) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err := i.Features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
		f.Dependency = &d
		return f, nil
	})
	return err
}
