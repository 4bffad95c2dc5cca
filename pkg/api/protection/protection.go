// Package protection decides whether a caller may change directly what applications get in environments that require
// change requests or are frozen.
package protection

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Place is an environment of a project.
type Place struct{ Project, Environment string }

// RequiredApprovals returns how many approvals a change of an environment of a project needs; 0: it needs no change
// request.
func RequiredApprovals(project *access.Project, e environment.Environment) int64 {
	p := project.ProtectionOf(e.Name)
	if !p.ChangeRequests {
		return e.RequiredApprovals
	}
	return max(p.RequiredApprovals, e.RequiredApprovals, 1)
}

// FreezeIn returns the freeze of an environment of a project at a time; nil: none. A project that does not exist is nil.
func FreezeIn(project *access.Project, e environment.Environment, at time.Time) *access.Freeze {
	if e.Freeze.Covers(at) {
		return e.Freeze
	}
	if f := project.ProtectionOf(e.Name).Freeze; f.Covers(at) {
		return f
	}
	return nil
}

// Guard decides about changes. It is safe for concurrent use.
type Guard struct {
	projects     *accesstable.Reader
	environments *environment.Store
}

// NewGuard returns a Guard that reads the protections of projects and environments.
func NewGuard(projects *accesstable.Reader, environments *environment.Store) *Guard {
	return &Guard{projects, environments}
}

// Decision permits changes.
type Decision struct {
	PermittedBy map[Place]eventlog.PermittedBy // how the changes in each place were permitted

	// Projects and Environments are the ids of the last events of all that the decision depends on. The transaction of
	// the changes has the condition that they are still the last ones.
	Projects, Environments map[string]int64
}

// Decide decides whether the caller may make changes now. The value of a place is whether the changes there only turn
// toggles off. The kind of its error is NoAccess if the caller may not.
func (g *Guard) Decide(ctx context.Context, changes map[Place]bool, now time.Time) (Decision, error) {
	d := Decision{map[Place]eventlog.PermittedBy{}, map[string]int64{}, map[string]int64{}}
	if len(changes) == 0 {
		return d, nil
	}
	for place := range changes {
		d.Projects[place.Project], d.Environments[place.Environment] = 0, 0
	}
	projects, environments, err := g.read(ctx, d)
	if err != nil {
		return Decision{}, err
	}
	for id, p := range projects {
		d.Projects[id] = p.LastEvent
	}
	for name, e := range environments {
		d.Environments[name] = e.LastEvent
	}
	d.PermittedBy, err = Permit(ctx, changes, projects, environments, now)
	return d, err
}

// read reads the projects and environments of a decision. Those that do not exist are left out.
func (g *Guard) read(ctx context.Context, d Decision) (
	projects map[string]*access.Project, environments map[string]environment.Environment, err error,
) {
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		environments, err = g.environments.Named(ctx, slices.Sorted(maps.Keys(d.Environments)))
		return err
	})
	reads.Go(func() error {
		projects = map[string]*access.Project{}
		for id := range d.Projects {
			p, err := g.projects.Project(ctx, id)
			if err != nil {
				return err
			}
			if p != nil {
				projects[id] = p
			}
		}
		return nil
	})
	err = reads.Wait()
	return projects, environments, err
}

// Permit is Decide for projects and environments that were read. Those that do not exist are nil or left out. It returns
// how the changes are permitted in each place.
func Permit(
	ctx context.Context, changes map[Place]bool, projects map[string]*access.Project,
	environments map[string]environment.Environment, now time.Time,
) (map[Place]eventlog.PermittedBy, error) {
	permitted := map[Place]eventlog.PermittedBy{}
	places := slices.SortedFunc(maps.Keys(changes), func(a, b Place) int {
		return cmp.Or(strings.Compare(a.Environment, b.Environment), strings.Compare(a.Project, b.Project))
	})
	for _, place := range places {
		project, e := projects[place.Project], environments[place.Environment]
		e.Name = place.Environment // also if it does not exist
		refusal := refusalIn(ctx, place, project, e, now)
		if refusal == nil {
			continue
		}
		by, err := permission(ctx, place, project, changes[place])
		if err != nil {
			return nil, err
		}
		if by == (eventlog.PermittedBy{}) {
			return nil, refusal
		}
		permitted[place] = by
	}
	return permitted, nil
}

// refusalIn returns the error for a caller who has no permission to change a place directly, or nil if the place is
// neither protected nor frozen.
func refusalIn(
	ctx context.Context, place Place, project *access.Project, e environment.Environment, now time.Time,
) error {
	if ctx.Value(planningKey{}) != nil {
		return nil
	}
	protection := project.ProtectionOf(place.Environment)
	of := ""
	if project != nil && project.IsVisible(access.PrincipalFrom(ctx)) {
		of = " of the project \"" + place.Project + "\""
	}
	switch {
	case e.Freeze.Covers(now):
		return frozen(place.Environment, "", *e.Freeze)
	case protection.Freeze.Covers(now):
		if of == "" {
			return apierror.Errorf(apierror.NoAccess, "The environment %q of a project that uses this is frozen until %s.",
				place.Environment, datetime.Format(protection.Freeze.Until))
		}
		return frozen(place.Environment, of, *protection.Freeze)
	case RequiredApprovals(project, e) > 0 && !isApproved(ctx, place):
		return apierror.Errorf(apierror.NoAccess, "Changes in the environment %q%s need a change request.",
			place.Environment, of)
	}
	return nil
}

type approvedKey struct{}

// WithApproved returns a copy of ctx with which changes in places are permitted that need a change request, because one
// was approved. It does not permit changes of a frozen environment.
func WithApproved(ctx context.Context, approved func(Place) bool) context.Context {
	return context.WithValue(ctx, approvedKey{}, approved)
}

type planningKey struct{}

// WithPlanning returns a copy of ctx with which nothing is refused, for a transaction that is planned and not written.
func WithPlanning(ctx context.Context) context.Context {
	return context.WithValue(ctx, planningKey{}, true)
}

func isApproved(ctx context.Context, place Place) bool {
	approved, ok := ctx.Value(approvedKey{}).(func(Place) bool)
	return ok && approved(place)
}

func frozen(name, of string, f access.Freeze) error {
	return apierror.Errorf(apierror.NoAccess, "The environment %q%s is frozen until %s: %s", name, of,
		datetime.Format(f.Until), f.Reason)
}

// permission returns how the caller may change a place that is protected or frozen. It is empty if the caller may not.
func permission(
	ctx context.Context, place Place, project *access.Project, turnsOff bool,
) (p eventlog.PermittedBy, err error) {
	if access.PrincipalFrom(ctx).ID == "" { // an operator, who has rights on the tables
		return eventlog.PermittedBy{SkippedChangeRequest: true}, nil
	}
	if turnsOff && !project.ProtectionOf(place.Environment).ForbidsTurningOff {
		p.TurnedOff, err = access.May(ctx, project, place.Environment, access.UpdateEnvironment)
		if err != nil || p.TurnedOff {
			return p, err
		}
	}
	p.SkippedChangeRequest, err = access.May(ctx, project, place.Environment, access.SkipChangeRequest)
	return p, err
}
