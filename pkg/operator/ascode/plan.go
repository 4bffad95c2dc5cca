package ascode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/featurestate"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
)

// Options say what a plan may do beyond what the files describe.
type Options struct {
	Source string // the URL of the files, the managedBy of the toggles that a plan creates
	Prune  bool   // archive the toggles of the source that no file describes
	Adopt  bool   // make the source that of all toggles of the files
}

// Change is one change of a resource, as the event log would record it.
type Change struct {
	Type        eventlog.Type `json:"type"`
	Summary     string        `json:"summary"` // a sentence
	Environment string        `json:"environment"`
	Data        object        `json:"-"`
	PreData     object        `json:"-"`
}

// isOfWholeToggle reports whether a change has an effect in each environment in which the toggle is on.
func (c Change) isOfWholeToggle() bool {
	return c.Type == eventlog.FeatureArchived || c.Type == eventlog.FeatureDependencyAdded ||
		c.Type == eventlog.FeatureDependencyRemoved
}

// object is a JSON object.
type object = map[string]any

// Step is what a plan does to one resource, or to a change request that is no longer needed.
type Step struct {
	Ref

	Changes   []Change `json:"changes"`
	Protected []string `json:"changeRequests,omitempty"` // the environments in which its changes need a change request
	Archives  bool     `json:"archives,omitempty"`

	whole  string // the protected environment whose change request has its changes of the whole toggle; "": none
	action action
}

// action makes the changes of a step that need no change request.
type action interface {
	apply(ctx context.Context, c *Client, s *Step) error
}

// send is the action of a request that makes a resource as it is described. The resource must be as the plan has seen it.
type send struct {
	method string
	path   []string
	etag   string // "": the resource does not exist
	body   any
}

func (a *send) apply(ctx context.Context, c *Client, _ *Step) error {
	var header map[string]string
	if a.etag != "" {
		header = map[string]string{"If-Match": a.etag}
	}
	_, err := c.api.Call(ctx, a.method, a.path, nil, header, a.body, nil)
	return err
}

// Plan is what Apply does.
type Plan struct {
	Steps  []Step // only what changes, in the order in which they are applied
	source string
}

// how is what a plan does to a resource before toggles are changed that need it.
type how string

const (
	created how = "created"
	changed how = "changed"
)

// planner compares resources of files with an installation.
type planner struct {
	client    *Client
	o         Options
	caller    func() (eventlog.Actor, error)    // asks the API once
	groups    func() (map[string]int64, error)  // the ids by the names; asks the API once
	lifetimes func() (map[string]*int64, error) // of the toggle types by their ids; asks the API once
	roles     func() (map[string]int64, error)  // the ids by the names; asks the API once

	environments func() (map[string]int64, error) // how many approvals each requires in all projects; asks the API once

	segments  map[string]int64    // the ids by the names, in lower case
	here      map[string]stored   // the toggles of the projects that were read, with Prune of all
	read      map[string]bool     // those projects
	protected map[string][]string // the environments that require change requests, by project
	first     map[Ref]how         // what the plan makes before toggles that need it
	isSet     featurestate.Comparison
}

// Plan compares resources of files with the installation. It changes nothing. Its error names everything that is wrong
// with the files.
func (c *Client) Plan(ctx context.Context, resources []Resource, o Options) (Plan, error) {
	p := &planner{
		client: c, o: o, caller: sync.OnceValues(func() (eventlog.Actor, error) { return c.caller(ctx) }),
		groups: sync.OnceValues(func() (map[string]int64, error) { return c.groups(ctx) }),
		lifetimes: sync.OnceValues(func() (map[string]*int64, error) {
			days, _, err := c.lifetimes(ctx)
			return days, err
		}),
		roles: sync.OnceValues(func() (map[string]int64, error) { return c.roles(ctx) }),

		environments: sync.OnceValues(func() (map[string]int64, error) { return c.environments(ctx) }),

		segments: map[string]int64{}, here: map[string]stored{}, read: map[string]bool{},
		protected: map[string][]string{}, first: map[Ref]how{},
		isSet: featurestate.NewComparison(),
	}
	stored, err := c.segments(ctx)
	if err != nil {
		return Plan{}, err
	}
	for _, s := range stored {
		p.segments[s.Ref().key().Name] = s.ID
	}
	done := Plan{source: o.Source}
	var last []Step // after the toggles
	for _, kind := range Kinds() {
		all := Of(resources, kind)
		if kind == KindToggle {
			if err := p.lookAround(ctx, all); err != nil {
				return Plan{}, err
			}
		}
		steps, err := p.planAll(ctx, all)
		if err != nil {
			return Plan{}, err
		}
		done.Steps = append(done.Steps, steps...)
		if kind == KindProject {
			added, later, err := p.planPlaces(ctx, all)
			if err != nil {
				return Plan{}, err
			}
			done.Steps, last = append(done.Steps, added...), later
		}
	}
	if err := p.askForSegments(ctx, done.Steps); err != nil {
		return Plan{}, err
	}
	if o.Prune {
		archived, err := p.prune(ctx, Of(resources, KindToggle))
		if err != nil {
			return Plan{}, err
		}
		done.Steps = append(done.Steps, archived...)
		archiveWithChildren(done.Steps)
	}
	done.Steps = append(done.Steps, last...)
	canceled, err := p.cancel(ctx, done, Of(resources, KindSegment))
	done.Steps = append(done.Steps, canceled...)
	return done, err
}

// planAll returns the steps of the resources of a kind that change, a parent before the toggles that depend on it.
func (p *planner) planAll(ctx context.Context, all []Resource) ([]Step, error) {
	steps, errs := make([]Step, len(all)), make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(apiclient.Parallel)
	for i, r := range all {
		group.Go(func() error {
			steps[i], errs[i] = r.plan(ctx, p)
			return nil
		})
	}
	_ = group.Wait() // errs has the errors
	if err := errors.Join(errs...); err != nil {
		return nil, exitstatus.Errorf(exitstatus.Failure, "%v", err)
	}
	steps = slices.DeleteFunc(steps, func(s Step) bool { return len(s.Changes) == 0 })
	for _, s := range steps {
		switch s.Changes[0].Type { //nolint:exhaustive // toggles need no change of the others
		case eventlog.ContextFieldCreated, eventlog.ProjectCreated, eventlog.SegmentCreated:
			p.first[s.key()] = created
		case eventlog.ContextFieldUpdated:
			p.first[s.key()] = changed
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.generation(), b.generation()) })
	return steps, nil
}

// planPlaces returns the steps that add environments to projects, and those that follow after the toggles: what is removed,
// and how environments are protected, so that toggles are changed as before, and which roles groups have.
func (p *planner) planPlaces(ctx context.Context, projects []Resource) (first, last []Step, err error) {
	stored, invalid := make([]storedPlaces, len(projects)), make([]error, len(projects))
	var group errgroup.Group
	group.SetLimit(apiclient.Parallel)
	for i, r := range projects {
		if s, ok := r.(*Project); ok && p.first[s.Ref().key()] != created {
			group.Go(func() error {
				stored[i], invalid[i] = s.readPlaces(ctx, p.client)
				return nil
			})
		}
	}
	_ = group.Wait() // invalid has the errors
	for i, r := range projects {
		s, ok := r.(*Project)
		if !ok || invalid[i] != nil {
			continue
		}
		added, removed, protected, err := s.planEnvironments(p, stored[i].protections)
		groups, alsoErr := s.planGroups(p, stored[i].roles)
		invalid[i] = errors.Join(err, alsoErr)
		first, last = append(first, added...), slices.Concat(last, removed, protected, groups)
	}
	if err := errors.Join(invalid...); err != nil {
		return nil, nil, exitstatus.Errorf(exitstatus.Failure, "%v", err)
	}
	return first, last, nil
}

// generation returns 1 for a toggle that depends on another one, otherwise 0.
func (s Step) generation() int {
	if a, ok := s.action.(*setState); ok && a.toggle.parent() != "" {
		return 1
	}
	return 0
}

// lookAround reads what is there beside toggles that are described: the other toggles of their projects, with Prune of all
// projects, and which environments require change requests.
func (p *planner) lookAround(ctx context.Context, toggles []Resource) error {
	projects := map[string]Resource{} // with a toggle
	for _, t := range toggles {
		projects[t.Ref().Project] = t
	}
	for project, t := range projects {
		if p.first[Ref{Kind: KindProject, Name: project}.key()] == created {
			continue
		}
		err := p.readToggles(ctx, project)
		if err == nil {
			err = p.readProtected(ctx, project)
		}
		if _, refused := errors.AsType[*apiclient.Error](err); refused {
			return exitstatus.Errorf(exitstatus.Failure, "%s: %v", t.place("project"), err)
		}
		if err != nil {
			return err
		}
	}
	if p.o.Prune {
		all, err := p.client.projects(ctx)
		if err != nil {
			return err
		}
		for _, project := range all {
			if err := errors.Join(p.readToggles(ctx, project), p.readProtected(ctx, project)); err != nil {
				return err
			}
		}
	}
	for _, t := range toggles {
		if _, exists := p.here[t.Ref().Name]; !exists {
			p.first[t.Ref().key()] = created
		}
	}
	return nil
}

// readToggles reads the toggles of a project, once.
func (p *planner) readToggles(ctx context.Context, project string) error {
	if p.read[project] {
		return nil
	}
	p.read[project] = true
	all, err := p.client.toggles(ctx, project)
	for _, t := range all {
		p.here[t.Name] = t
	}
	return err
}

// readProtected reads the environments of a project that require change requests, once.
func (p *planner) readProtected(ctx context.Context, project string) error {
	if _, known := p.protected[project]; known {
		return nil
	}
	names, err := p.client.protected(ctx, project)
	if err == nil {
		p.protected[project] = names
	}
	return err
}

// step returns the step of a resource that toggles share. e is the event of its change, and before and after are the
// resource in it; one is nil if the resource does not exist then. There are no changes if they are equal.
func (p *planner) step(of Ref, e eventlog.Event, before, after any, a action) (Step, error) {
	var err, alsoErr error
	if before != nil {
		e.PreData, err = json.Marshal(before)
	}
	if after != nil {
		e.Data, alsoErr = json.Marshal(after)
	}
	if err := errors.Join(err, alsoErr); err != nil {
		return Step{}, fmt.Errorf("encode the %v: %w", of, err)
	}
	if bytes.Equal(e.PreData, e.Data) {
		return Step{}, nil
	}
	change, err := p.change(e)
	return Step{Ref: of, Changes: []Change{change}, action: a}, err
}

// change returns an event that would be recorded as a change of a step.
func (p *planner) change(e eventlog.Event) (Change, error) {
	by, err := p.caller()
	e.By = by
	return Change{Type: e.Type, Summary: eventsearch.Summary(e), Environment: e.Environment}, err
}

// cancel returns the steps that cancel open change requests of the source. They are those for toggles in environments, and
// for segments of files, in which the plan changes nothing: the files were reverted.
func (p *planner) cancel(ctx context.Context, plan Plan, segments []Resource) (steps []Step, err error) {
	described := map[string]bool{} // the ids of segments
	isDescribed := func(id string) bool { return described[id] }
	for _, s := range segments {
		described[segmenttable.Name(p.segments[s.Ref().key().Name])] = true
	}
	if len(p.protected) == 0 && len(described) == 0 {
		return nil, nil
	}
	open, err := p.client.open(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(open) {
		_, isRead := p.protected[r.Project]
		isKnown := len(r.Features) > 0 && isRead || slices.ContainsFunc(r.Segments, isDescribed)
		needed := slices.ContainsFunc(plan.Steps, func(s Step) bool {
			return slices.ContainsFunc(s.places(), func(at place) bool { return at.concerns(r) })
		})
		if r.Title != titleOf(plan.source) || !isKnown || needed {
			continue
		}
		text := fmt.Sprintf("The change request %d for %s is canceled: the files describe what is there.", r.ID, r.Environment)
		steps = append(steps, Step{
			Ref:     Ref{KindRequest, strconv.FormatInt(r.ID, 10), r.Project},
			Changes: []Change{{Type: eventlog.ChangeRequestCancelled, Environment: r.Environment, Summary: text}},
			action:  &cancelRequest{r.Project, r.ID},
		})
	}
	return steps, nil
}

// explain returns an error of the API about a resource, with the file and the line.
func explain(r Resource, err error) error {
	pointer := ""
	if refused, ok := errors.AsType[*apiclient.Error](err); ok && len(refused.Details) > 0 {
		pointer = inDocument(refused.Details[0].Path)
	}
	return fmt.Errorf("%s: %w", r.place(pointer), err)
}

// protect sets the environments in which the changes of a step of a toggle need a change request. Changes of the whole
// toggle need one if the toggle is on in a protected environment: the API requires the approvals of all of these.
func (p *planner) protect(s *Step) {
	s.Protected, s.whole = nil, ""
	isOfWhole := slices.ContainsFunc(s.Changes, Change.isOfWholeToggle)
	for _, name := range p.protected[s.Project] {
		if isOfWhole && s.whole == "" && p.here[s.Name].isOn(name) {
			s.whole = name
		}
		if s.whole == name || slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Environment == name }) {
			s.Protected = append(s.Protected, name)
		}
	}
}

// request returns the environment whose change request has a change of the step; "": the change needs none.
func (s Step) request(c Change) string {
	if c.isOfWholeToggle() {
		return s.whole
	}
	if slices.Contains(s.Protected, c.Environment) {
		return c.Environment
	}
	return ""
}

// prune returns the steps that archive the toggles of the source that no file describes.
func (p *planner) prune(ctx context.Context, toggles []Resource) (steps []Step, err error) {
	described := map[string]bool{}
	for _, t := range toggles {
		described[t.Ref().Name] = true
	}
	for _, l := range p.here {
		if l.ManagedBy != p.o.Source || described[l.Name] {
			continue
		}
		t := Toggle{
			Name: l.Name, Project: l.Project, Type: l.Type, Description: l.Description, ImpressionData: l.ImpressionData,
			ManagedBy: l.ManagedBy,
		}
		// It is tried without being archived: children that are archived before it still depend on it.
		s, a, err := t.compare(ctx, p)
		if err != nil {
			return nil, err
		}
		a.toggle.Archived, s.Archives = true, true
		s.Changes = append(s.Changes, Change{
			Type: eventlog.FeatureArchived, Summary: fmt.Sprintf("The toggle %s is archived: no file describes it.", l.Name),
		})
		p.protect(&s)
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b Step) int { // children first: a toggle with children cannot be archived
		return cmp.Or(cmp.Compare(a.turn(), b.turn()), strings.Compare(a.Name, b.Name))
	})
	return steps, nil
}

// archiveWithChildren makes steps that archive toggles use the change request that ends the dependency of a child. A toggle
// with children cannot be archived.
func archiveWithChildren(steps []Step) {
	ends := map[string]string{} // the environments of these requests by the parents
	for _, s := range steps {
		for _, c := range s.Changes {
			if parent, ok := c.Data["feature"].(string); ok && c.Type == eventlog.FeatureDependencyRemoved && s.whole != "" {
				ends[parent] = s.whole
			}
		}
	}
	for i, s := range steps {
		if environment := ends[s.Name]; s.Archives && environment != "" {
			steps[i].Protected, steps[i].whole = []string{environment}, environment
		}
	}
}

// turn returns when a step is applied that archives a toggle: 0 for a child, 1 for the others. A child has no children.
func (s *Step) turn() int {
	isChild := func(c Change) bool { return c.Type == eventlog.FeatureDependencyRemoved }
	if slices.ContainsFunc(s.Changes, isChild) {
		return 0
	}
	return 1
}
