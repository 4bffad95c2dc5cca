package ascode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/toggle"
)

// Toggle is a toggle in a file. Its JSON form, without the name, the project and the file, is the body of
// set-feature-state.
type Toggle struct {
	document `json:"-" yaml:"-"`

	Kind           Kind                   `json:"-"                        yaml:"kind,omitempty"`
	Name           string                 `json:"-"                        yaml:"name"`
	Project        string                 `json:"-"                        yaml:"project"`
	Type           string                 `json:"type,omitempty"           yaml:"type"`
	Description    *string                `json:"description,omitempty"    yaml:"description,omitempty"`
	ImpressionData bool                   `json:"impressionData,omitempty" yaml:"impressionData,omitempty"`
	Tags           []Tag                  `json:"tags,omitzero"            yaml:"tags,omitempty"`      // nil: they do not change
	Owner          *Owner                 `json:"owner,omitempty"          yaml:"owner,omitempty"`     // nil: it does not change
	KeepUntil      string                 `json:"keepUntil,omitempty"      yaml:"keepUntil,omitempty"` // a date; empty: it does not change
	KeepReason     string                 `json:"keepReason,omitempty"     yaml:"keepReason,omitempty"`
	Dependency     *Dependency            `json:"dependency,omitempty"     yaml:"dependency,omitempty"`
	Environments   map[string]Environment `json:"environments,omitempty"   yaml:"environments,omitempty"`

	ManagedBy string `json:"managedBy,omitempty" yaml:"-"` // set by a plan
	Archived  bool   `json:"archived,omitempty"  yaml:"-"` // set by a plan that prunes
}

// Tag is a label of a toggle: a value of a tag type.
type Tag struct {
	Type  string `json:"type"  yaml:"type"`
	Value string `json:"value" yaml:"value"`
}

// Owner is the owner of a toggle: a person has an ID, a group and a text have a name.
type Owner struct {
	Kind toggle.OwnerKind `json:"kind"           yaml:"kind"`
	ID   int64            `json:"id,omitempty"   yaml:"id,omitempty"`
	Name string           `json:"name,omitempty" yaml:"name,omitempty"`
}

// Dependency is the condition of a toggle on its parent.
type Dependency struct {
	Feature  string   `json:"feature"            yaml:"feature"`
	Enabled  *bool    `json:"enabled,omitempty"  yaml:"enabled,omitempty"` // nil: true
	Variants []string `json:"variants,omitempty" yaml:"variants,omitempty"`
}

// Environment is the state of a toggle in an environment.
type Environment struct {
	Enabled    bool       `json:"enabled"              yaml:"enabled"`
	Strategies []Strategy `json:"strategies,omitempty" yaml:"strategies,omitempty"`
}

// Strategy is a strategy in a file, which names segments. Their ids are those of one installation.
type Strategy struct {
	Name        string            `json:"name"                  yaml:"name"`
	Title       *string           `json:"title,omitempty"       yaml:"title,omitempty"`
	Disabled    bool              `json:"disabled,omitempty"    yaml:"disabled,omitempty"`
	Parameters  map[string]string `json:"parameters,omitempty"  yaml:"parameters,omitempty"`
	Constraints []Constraint      `json:"constraints,omitempty" yaml:"constraints,omitempty"`
	Segments    []string          `json:"-"                     yaml:"segments,omitempty"`
	SegmentIDs  []int64           `json:"segments,omitempty"    yaml:"-"`
	Variants    []Variant         `json:"variants,omitempty"    yaml:"variants,omitempty"`
}

// Constraint is a constraint of a strategy.
type Constraint struct {
	ContextName     string          `json:"contextName"               yaml:"contextName"`
	Operator        toggle.Operator `json:"operator"                  yaml:"operator"`
	Values          []string        `json:"values,omitempty"          yaml:"values,omitempty"`
	Value           string          `json:"value,omitempty"           yaml:"value,omitempty"`
	Inverted        bool            `json:"inverted,omitempty"        yaml:"inverted,omitempty"`
	CaseInsensitive bool            `json:"caseInsensitive,omitempty" yaml:"caseInsensitive,omitempty"`
}

// Variant is a variant of a strategy. Its stickiness is that of the strategy.
type Variant struct {
	Name       string   `json:"name"                 yaml:"name"`
	Weight     int      `json:"weight,omitempty"     yaml:"weight,omitempty"` // of a fixed variant
	WeightType string   `json:"weightType,omitempty" yaml:"weightType,omitempty"`
	Payload    *Payload `json:"payload,omitempty"    yaml:"payload,omitempty"`
}

// Payload is the value that a variant delivers.
type Payload struct {
	Type  string `json:"type"  yaml:"type"`
	Value string `json:"value" yaml:"value"`
}

// Ref implements Resource.
func (t *Toggle) Ref() Ref { return Ref{KindToggle, t.Name, t.Project} }

func (t *Toggle) check() error {
	if err := toggle.CheckFeatureName(t.Name); err != nil {
		return fmt.Errorf("%s: the name of the toggle, %q, is not possible: %w", t.place("name"), t.Name, err)
	}
	if err := toggle.CheckName(t.Project); err != nil {
		return fmt.Errorf("%s: the project %q is not possible: %w", t.place("project"), t.Project, err)
	}
	return nil
}

// parent returns the name of the toggle on which a toggle depends, or "".
func (t *Toggle) parent() string {
	if t.Dependency == nil {
		return ""
	}
	return t.Dependency.Feature
}

// namesGroup reports whether the owner of a toggle is a group without an id.
func (t *Toggle) namesGroup() bool {
	return t.Owner != nil && t.Owner.Kind == toggle.OwnerGroup && t.Owner.ID == 0
}

// resolve sets the ids of the group that owns the toggle, and of the segments that the strategies name. A segment without
// an id is an error, unless the plan creates it: its id is 0.
func (t *Toggle) resolve(p *planner) error {
	var invalid []error
	if t.namesGroup() {
		groups, err := p.groups()
		if err != nil {
			return err
		}
		id, exists := groups[t.Owner.Name]
		if !exists {
			invalid = append(invalid, fmt.Errorf("%s: there is no group with the name %q", t.place("owner/name"), t.Owner.Name))
		}
		t.Owner.ID = id
	}
	for environment, e := range t.Environments {
		for i := range e.Strategies {
			s := &e.Strategies[i]
			s.SegmentIDs = nil
			for j, name := range s.Segments {
				segment := Ref{Kind: KindSegment, Name: name}.key()
				id, exists := p.segments[segment.Name]
				if !exists && p.first[segment] == "" {
					place := t.place(fmt.Sprintf("environments/%s/strategies/%d/segments/%d", environment, i, j))
					invalid = append(invalid, fmt.Errorf("%s: there is no segment with the name %q", place, name))
				}
				s.SegmentIDs = append(s.SegmentIDs, id)
			}
		}
	}
	return errors.Join(invalid...)
}

// missingSegment returns the name of a segment without an id, or "".
func (t *Toggle) missingSegment() string {
	for _, e := range t.Environments {
		for _, s := range e.Strategies {
			if i := slices.Index(s.SegmentIDs, 0); i >= 0 {
				return s.Segments[i]
			}
		}
	}
	return ""
}

// setSource sets who manages a toggle: the source of the files if it is created or adopted, otherwise as it is. It returns
// an error if another source manages the toggle.
func (t *Toggle) setSource(p *planner) error {
	stored, exists := p.here[t.Name]
	t.ManagedBy = stored.ManagedBy
	if !exists || p.o.Adopt {
		t.ManagedBy = p.o.Source
	}
	if t.ManagedBy != "" && t.ManagedBy != p.o.Source {
		return fmt.Errorf("%s: the toggle %s is managed by %s, and the source of these files is %s: change it there, or "+
			"use --adopt", t.place(""), t.Name, t.ManagedBy, p.o.Source)
	}
	return nil
}

func (t *Toggle) plan(ctx context.Context, p *planner) (Step, error) {
	if err := errors.Join(t.resolve(p), t.setSource(p)); err != nil {
		return Step{}, err
	}
	if p.first[Ref{Kind: KindProject, Name: t.Project}.key()] == created {
		return t.planInNewProject(p)
	}
	if isSet, err := t.isSet(p); isSet || err != nil {
		return Step{}, err
	}
	needs := t.needs(p)
	isCreated := func(n need) bool { return n.how == created }
	if !slices.ContainsFunc(needs, isCreated) {
		s, _, err := t.compare(ctx, p)
		if _, refused := errors.AsType[*apiclient.Error](err); !refused {
			return s, err
		} else if len(needs) == 0 {
			return Step{}, explain(t, err)
		}
	}
	return t.planAfter(ctx, p, needs)
}

// isSet reports whether the stored toggle is as it is described. If it is not known, the API decides.
func (t *Toggle) isSet(p *planner) (bool, error) {
	f, exists := p.here[t.Name]
	if !exists || f.Project != t.Project || t.missingSegment() != "" {
		return false, nil
	}
	body, err := json.Marshal(t)
	if err != nil {
		return false, fmt.Errorf("encode the %v: %w", t.Ref(), err)
	}
	stored := toggle.Feature{
		Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
		Tags: f.Tags, Owner: f.Owner, ManagedBy: f.ManagedBy,
	}
	if until, err := toggle.ParseDay(f.KeepUntil); err == nil {
		stored.Keep = &toggle.Keep{Until: until, Reason: f.KeepReason}
	}
	for _, d := range f.Dependencies {
		stored.Dependency = &d
	}
	var environments []string
	for _, e := range f.Environments {
		environments = append(environments, e.Name)
		stored.SetEnvironment(e.Name, e.Environment)
	}
	return p.isSet(stored, environments, body), nil
}

// compare returns the step that makes the toggle as it is described, and its action.
func (t *Toggle) compare(ctx context.Context, p *planner) (Step, *setState, error) {
	etag, changes, err := p.client.try(ctx, t)
	a := &setState{toggle: *t, etag: etag}
	s := Step{Ref: t.Ref(), Changes: changes, action: a}
	p.protect(&s)
	return s, a, err
}

// planAfter is plan for a toggle that needs what the plan makes first. It is compared without these parts, and again when
// it is applied.
func (t *Toggle) planAfter(ctx context.Context, p *planner, needs []need) (Step, error) {
	s, a, err := t.without(needs).compare(ctx, p)
	if err != nil {
		return Step{}, explain(t, err)
	}
	for _, n := range needs {
		s.Changes = append(s.Changes, n.change(t.Name))
	}
	p.protect(&s)
	a.toggle, a.planner = *t, p
	return s, nil
}

// planInNewProject is plan for a toggle of a project that the plan creates. The API cannot be asked before.
func (t *Toggle) planInNewProject(p *planner) (Step, error) {
	s := Step{Ref: t.Ref(), action: &setState{toggle: *t, planner: p}}
	add := func(kind eventlog.Type, environment string) error {
		change, err := p.change(eventlog.Event{
			Type: kind, Subject: eventlog.Subject("toggle:" + t.Name), Project: t.Project, FeatureName: t.Name, Environment: environment,
		})
		s.Changes = append(s.Changes, change)
		return err
	}
	err := add(eventlog.FeatureCreated, "")
	for _, environment := range slices.Sorted(maps.Keys(t.Environments)) {
		state := t.Environments[environment]
		for range state.Strategies {
			err = errors.Join(err, add(eventlog.FeatureStrategyAdd, environment))
		}
		if state.Enabled {
			err = errors.Join(err, add(eventlog.FeatureEnvironmentEnabled, environment))
		}
	}
	if t.parent() != "" {
		err = errors.Join(err, add(eventlog.FeatureDependencyAdded, ""))
	}
	return s, err
}

// need is a part of a toggle that needs what the plan makes first.
type need struct {
	of          Ref
	how         how
	environment string // "" for the parent
}

// change returns the need as a change of a toggle.
func (n need) change(name string) Change {
	c := Change{Type: eventlog.FeatureStrategyUpdate, Environment: n.environment}
	if n.of.Kind == KindToggle {
		c.Type = eventlog.FeatureDependencyAdded
		c.Summary = fmt.Sprintf("The toggle %s depends on the %v, which is %s first.", name, n.of, n.how)
		return c
	}
	if n.of.Kind == KindEnvironment {
		c.Summary = fmt.Sprintf("The toggle %s has a state in the %v, which is added to the project first.", name, n.of)
		return c
	}
	c.Summary = fmt.Sprintf("The toggle %s uses the %v in %s, which is %s first.", name, n.of, n.environment, n.how)
	return c
}

// needs returns what the toggle uses of what the plan makes first, in order.
func (t *Toggle) needs(p *planner) (all []need) {
	add := func(of Ref, environment string) {
		how := p.first[of.key()]
		if n := (need{of, how, environment}); how != "" && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	if parent := t.parent(); parent != "" {
		add(Ref{Kind: KindToggle, Name: parent}, "")
	}
	for _, environment := range slices.Sorted(maps.Keys(t.Environments)) {
		add(Ref{KindEnvironment, environment, t.Project}, environment)
		for _, s := range t.Environments[environment].Strategies {
			for _, name := range s.Segments {
				add(Ref{Kind: KindSegment, Name: name}, environment)
			}
			for _, c := range s.Constraints {
				add(Ref{Kind: KindField, Name: c.ContextName}, environment)
			}
			add(Ref{Kind: KindField, Name: s.Parameters[stickiness]}, environment)
		}
	}
	return all
}

// stickiness is the parameter of a strategy that can name a context field.
const stickiness = "stickiness"

// without returns the toggle without the parts that need something.
func (t *Toggle) without(needs []need) *Toggle {
	needed := func(kind Kind, name string) bool {
		return slices.ContainsFunc(needs, func(n need) bool { return n.of.key() == Ref{kind, name, t.Project}.key() })
	}
	reduced := *t
	if needed(KindToggle, t.parent()) {
		reduced.Dependency = nil
	}
	reduced.Environments = map[string]Environment{}
	for name, e := range t.Environments {
		if needed(KindEnvironment, name) {
			continue
		}
		e.Strategies = slices.Clone(e.Strategies)
		for i := range e.Strategies {
			s := &e.Strategies[i]
			s.SegmentIDs = slices.DeleteFunc(slices.Clone(s.SegmentIDs), func(id int64) bool { return id == 0 })
			s.Constraints = slices.DeleteFunc(slices.Clone(s.Constraints), func(c Constraint) bool {
				return needed(KindField, c.ContextName)
			})
			if needed(KindField, s.Parameters[stickiness]) {
				s.Parameters = maps.Clone(s.Parameters)
				s.Parameters[stickiness] = "default"
			}
		}
		reduced.Environments[name] = e
	}
	return &reduced
}

// try returns what would make a toggle as it is described, and the tag of the state of the stored one.
func (c *Client) try(ctx context.Context, t *Toggle) (etag string, changes []Change, err error) {
	var response struct {
		Changes []struct {
			Type        eventlog.Type `json:"type"`
			Summary     string        `json:"summary"`
			Environment string        `json:"environment"`
			Data        object        `json:"data"`
			PreData     object        `json:"preData"`
		} `json:"changes"`
	}
	header, err := c.api.Call(ctx, http.MethodPut, t.statePath(), url.Values{"dryRun": {"true"}}, nil, t, &response)
	for _, change := range response.Changes {
		changes = append(changes, Change(change))
	}
	return header.Get("ETag"), changes, err
}

// statePath returns the path of the state of a toggle.
func (t *Toggle) statePath() []string {
	return []string{"projects", t.Project, "features", t.Name, "state"}
}

// setState makes the changes of a toggle that need no change request. The toggle must be as the plan has seen it.
type setState struct {
	toggle  Toggle
	etag    string   // of the state that the plan has seen; "": the toggle does not exist
	planner *planner // of a toggle that is compared again, because it needs what the plan makes first; otherwise nil
}

func (a *setState) apply(ctx context.Context, c *Client, s *Step) error {
	t := a.toggle
	if a.planner != nil {
		if err := a.again(ctx, &t, s); err != nil {
			return err
		}
	}
	header := map[string]string{"If-Match": a.etag}
	if a.etag == "" {
		header = map[string]string{"If-None-Match": "*"}
	}
	t.Environments = maps.Clone(t.Environments)
	for _, name := range s.Protected {
		delete(t.Environments, name)
	}
	if s.whole != "" {
		var err error
		if t.Dependency, err = s.removedDependency(); err != nil {
			return err
		}
		t.Archived = false
	}
	_, err := c.api.Call(ctx, http.MethodPut, t.statePath(), nil, header, &t, nil)
	return err
}

// removedDependency returns the dependency that the changes of the step remove or replace, or nil.
func (s Step) removedDependency() (d *Dependency, err error) {
	i := slices.IndexFunc(s.Changes, func(c Change) bool { return c.Type == eventlog.FeatureDependencyRemoved })
	if i < 0 {
		return d, err
	}
	text, err := json.Marshal(s.Changes[i].Data)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d, err
}

// again compares the toggle again, and sets the changes of its step.
func (a *setState) again(ctx context.Context, t *Toggle, s *Step) error {
	p := a.planner
	if err := t.resolve(p); err != nil {
		return err
	}
	if name := t.missingSegment(); name != "" {
		return &apiclient.Error{Message: fmt.Sprintf("The segment %q was not created.", name)}
	}
	if err := p.readProtected(ctx, t.Project); err != nil {
		return err
	}
	next, _, err := t.compare(ctx, p)
	s.Changes, s.Protected, s.whole = next.Changes, next.Protected, next.whole
	return err
}
