package unleash

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
)

// element is a toggle that was read, and what a document cannot express of it.
type element struct {
	toggle.FeatureJSON

	losses   []string
	notes    []string
	off      []string          // the environments in which it was turned off
	lastSeen map[string]string // when applications last used it, by environment
}

func (t *element) lose(format string, args ...any) {
	t.losses = append(t.losses, fmt.Sprintf(format, args...))
}

func (t *element) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// addTo adds the toggle to a document.
func (t *element) addTo(d *transfer.Document) {
	d.Features = append(d.Features, t.FeatureJSON)
	if t.lastSeen != nil {
		d.LastSeen[t.Name] = t.lastSeen
	}
	if t.losses != nil {
		d.Losses[t.Name] = t.losses
	}
	if t.notes != nil {
		d.Notes[t.Name] = t.notes
	}
	if t.off != nil {
		d.TurnedOff[t.Name] = t.off
	}
}

// newDocument returns a document without elements.
func newDocument() transfer.Document {
	return transfer.Document{
		Kept: true, Losses: map[string][]string{}, Notes: map[string][]string{}, TurnedOff: map[string][]string{},
		LastSeen: map[string]map[string]string{},
	}
}

// setDependency sets the dependency of the toggle. Unleash permits one.
func (t *element) setDependency(all []toggle.Dependency) {
	if len(all) == 0 {
		return
	}
	t.Dependency = &all[0]
	for _, d := range all[1:] {
		t.lose("its dependency on %.100s was not imported: a toggle has one parent", d.Feature)
		for _, name := range slices.Sorted(maps.Keys(t.Environments)) {
			t.turnOff(name)
		}
	}
}

// turnOff turns the toggle off in an environment, in which SDKs would evaluate it differently than in Unleash.
func (t *element) turnOff(name string) {
	if e := t.Environments[name]; e.Enabled {
		e.Enabled = false
		t.Environments[name] = e
		t.off = append(t.off, name)
		t.lose("it was turned off in %s", name)
	}
}

// strategy is a strategy of Unleash. Old versions leave out properties.
type strategy struct {
	ID           string
	Name         string
	StrategyName string // the name in the state of a server
	Title        *string
	Disabled     *bool
	SortOrder    *int64
	Constraints  []toggle.Constraint
	Parameters   map[string]any
	Variants     []variant
	Segments     []int64
}

// variant is a variant of Unleash, of a strategy or of a toggle.
type variant = evaluation.FeatureVariant

// form returns the strategy as in a document. position is that in its environment.
func (s strategy) form(position int) toggle.Strategy {
	form := toggle.Strategy{
		ID:          s.ID,
		Name:        s.Name,
		Title:       s.Title,
		Disabled:    s.Disabled != nil && *s.Disabled,
		SortOrder:   int32(position), //nolint:gosec // Unleash permits 30 strategies
		Constraints: s.Constraints,
		Parameters:  map[string]string{},
		Segments:    s.Segments,
	}
	if form.Name == "" {
		form.Name = s.StrategyName
	}
	if s.SortOrder != nil {
		form.SortOrder = int32(max(math.MinInt32, min(*s.SortOrder, math.MaxInt32)))
	}
	for name, value := range s.Parameters {
		if value != nil {
			form.Parameters[name] = parameterText(value)
		}
	}
	for _, v := range s.Variants {
		form.Variants = append(form.Variants, v.Variant)
	}
	return form
}

// parameterText returns a parameter as text. Old versions have numbers and booleans.
func parameterText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
