package unleash

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
)

// element is a toggle that was read, and what a document cannot express of it.
type element struct {
	toggle.FeatureJSON

	omitted  []string
	lastSeen map[string]string // when applications last asked for it, by environment
}

func (t *element) omit(format string, args ...any) {
	t.omitted = append(t.omitted, fmt.Sprintf(format, args...))
}

// addTo adds the toggle to a document.
func (t *element) addTo(d *transfer.Document) {
	d.Features = append(d.Features, t.FeatureJSON)
	if t.lastSeen != nil {
		if d.LastSeen == nil {
			d.LastSeen = map[string]map[string]string{}
		}
		d.LastSeen[t.Name] = t.lastSeen
	}
	if len(t.omitted) == 0 {
		return
	}
	if d.Omitted == nil {
		d.Omitted = map[string][]string{}
	}
	d.Omitted[t.Name] = t.omitted
}

// omitVariants notes that variants of a toggle itself are left out: in an environment, or if it is empty, in all.
func (t *element) omitVariants(environment string, variants []variant) {
	switch {
	case len(variants) == 0:
	case environment == "":
		t.omit("its variants were not imported: only strategies have variants")
	default:
		t.omit("its variants in %s were not imported: only strategies have variants", environment)
	}
}

// setEnvironment sets the state of the toggle in an environment.
func (t *element) setEnvironment(name string, enabled bool, strategies []strategy) {
	if t.Environments == nil {
		t.Environments = map[string]toggle.Environment{}
	}
	state := toggle.Environment{Enabled: enabled}
	for i, s := range strategies {
		for _, v := range s.Variants {
			if len(v.Overrides) > 0 {
				t.omit("the overrides of the variant %.100s in %s were not imported: use constraints", v.Name, name)
			}
		}
		state.Strategies = append(state.Strategies, s.form(i))
	}
	t.Environments[name] = state
}

// setDependency sets the dependency of the toggle. Unleash permits one.
func (t *element) setDependency(all []toggle.Dependency) {
	if len(all) == 0 {
		return
	}
	t.Dependency = &all[0]
	for _, d := range all[1:] {
		t.omit("its dependency on %.100s was not imported: a toggle has one parent", d.Feature)
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

// variant is a variant of Unleash.
type variant struct {
	toggle.Variant

	Overrides []json.RawMessage
}

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
