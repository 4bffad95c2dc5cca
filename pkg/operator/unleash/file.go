package unleash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
)

// ErrFormat reports a text that is not an export of Unleash.
var ErrFormat = errors.New("not one of Unleash (POST /api/admin/features-batch/export)")

// oldEnvironment is the environment of toggles of versions that had no environments.
const oldEnvironment = "default"

// export is what Unleash exports: today the toggles of one environment, without times. Up to Unleash 5 it was the state
// of the server (GET /api/admin/state/export), with times, the strategies of all environments, or those of version 1 in
// the toggles, and without context fields.
type export struct {
	Features []struct {
		Name, Project, Type   string
		Description           *string
		ImpressionData        bool
		Enabled               bool // of version 1
		Stale, Archived       bool
		CreatedAt, ArchivedAt *string
		Strategies            *[]strategy // of version 1
		Variants              []variant
	}
	FeatureStrategies *[]struct {
		strategy

		FeatureName string
		Environment string // today empty: that of the export
	}
	FeatureEnvironments []struct {
		FeatureName, Environment string
		Enabled                  bool
		Variants                 []variant
	}
	ContextFields []transfer.ContextField
	Environments  []transfer.Environment
	Segments      []transfer.Segment

	Dependencies []struct {
		Feature      string // the child
		Dependencies []toggle.Dependency
	}
	FeatureStrategySegments []struct { // of the state of a server
		FeatureStrategyID string
		SegmentID         int64
	}

	FeatureTags []struct{ FeatureName, TagType, TagValue string }
	TagTypes    []transfer.TagType
	Links       []struct {
		Feature string
		Links   []toggle.Link
	}
	Projects []foundProject
}

// Parse reads what Unleash exports.
func Parse(text []byte) (transfer.Document, error) {
	var e export
	if err := json.Unmarshal(text, &e); err != nil {
		return transfer.Document{}, fmt.Errorf("it is not JSON of the expected form: %w", err)
	}
	if e.Features == nil || !e.hasStrategies() {
		return transfer.Document{}, ErrFormat
	}
	d := newDocument()
	d.ContextFields, d.Environments, d.Segments = e.ContextFields, e.Environments, e.Segments
	d.TagTypes = e.TagTypes
	for _, p := range e.Projects {
		d.Projects = append(d.Projects, p.project())
	}
	normalizeSegments(d.Segments)
	for i := range d.ContextFields {
		noEmptyDescription(&d.ContextFields[i].Description)
	}
	all, index := make([]element, len(e.Features)), map[string]*element{}
	for i, f := range e.Features {
		t := &all[i]
		t.FeatureJSON = toggle.FeatureJSON{
			Name: f.Name, Project: cmp.Or(f.Project, toggle.DefaultProject), Type: cmp.Or(f.Type, toggle.DefaultType),
			Description: f.Description, ImpressionData: f.ImpressionData, Stale: f.Stale, CreatedAt: f.CreatedAt,
			Archived: f.Archived || f.ArchivedAt != nil, ArchivedAt: f.ArchivedAt,
		}
		noEmptyDescription(&t.Description)
		if f.Strategies != nil {
			t.setEnvironment(oldEnvironment, f.Enabled, *f.Strategies, f.Variants)
		}
		index[f.Name] = t
	}
	for _, tag := range e.FeatureTags {
		if t := index[tag.FeatureName]; t != nil {
			t.Tags = append(t.Tags, toggle.Tag{Type: tag.TagType, Value: tag.TagValue})
		}
	}
	for _, all := range e.Links {
		if t := index[all.Feature]; t != nil {
			t.Links = all.Links
		}
	}
	e.addStates(index)
	for _, child := range e.Dependencies {
		if t := index[child.Feature]; t != nil {
			t.setDependency(child.Dependencies)
		}
	}
	for _, t := range all {
		t.addTo(&d)
	}
	d.Unlisted = e.unlisted()
	return d, nil
}

// unlisted returns the environments that the file names and does not list.
func (e export) unlisted() []transfer.Environment {
	known := map[string]bool{}
	for _, listed := range e.Environments {
		known[listed.Name] = true
	}
	var all []transfer.Environment
	for _, state := range e.FeatureEnvironments {
		if name := state.Environment; !known[name] {
			known[name] = true
			all = append(all, transfer.Environment{Name: name, Type: unknownType, SortOrder: int64(len(all))})
		}
	}
	return all
}

// addStates adds the states of the environments to toggles.
func (e export) addStates(toggles map[string]*element) {
	ofToggle := map[string][]variant{}
	for _, f := range e.Features {
		ofToggle[f.Name] = f.Variants
	}
	type key struct{ feature, environment string }
	strategies := map[key][]strategy{}
	if e.FeatureStrategies != nil {
		exported := ""
		if len(e.FeatureEnvironments) > 0 {
			exported = e.FeatureEnvironments[0].Environment
		}
		segments := map[string][]int64{}
		for _, s := range e.FeatureStrategySegments {
			segments[s.FeatureStrategyID] = append(segments[s.FeatureStrategyID], s.SegmentID)
		}
		for _, s := range *e.FeatureStrategies {
			s.Segments = append(s.Segments, segments[s.ID]...)
			k := key{s.FeatureName, cmp.Or(s.Environment, exported)}
			strategies[k] = append(strategies[k], s.strategy)
		}
	}
	for _, state := range e.FeatureEnvironments {
		t := toggles[state.FeatureName]
		if t == nil {
			continue
		}
		k := key{state.FeatureName, state.Environment}
		variants := state.Variants
		if len(variants) == 0 {
			variants = ofToggle[state.FeatureName] // up to version 4
		}
		t.setEnvironment(state.Environment, state.Enabled, strategies[k], variants)
		delete(strategies, k)
	}
	for k, all := range strategies {
		if t := toggles[k.feature]; t != nil {
			t.lose("%d of its strategies were not imported: the file does not say whether it is on in their environment",
				len(all))
		}
	}
}

// hasStrategies reports whether the strategies of the toggles are known.
func (e export) hasStrategies() bool {
	if e.FeatureStrategies != nil {
		return true
	}
	for _, f := range e.Features {
		if f.Strategies == nil {
			return false
		}
	}
	return len(e.Features) > 0
}
