package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// Protection is what changes in an environment of a project need besides a permission.
type Protection struct {
	Environment           string              `json:"environment"`
	ChangeRequestsEnabled bool                `json:"changeRequestsEnabled"`
	RequiredApprovals     *int64              `json:"requiredApprovals"` // nil: as many as the environment requires, or 1
	AllowTurningOff       bool                `json:"allowTurningOff"`
	Freeze                *environment.Freeze `json:"freeze"` // nil: none
}

// fromProtections returns the protections of a project in the environments that exist, without freezes that have ended.
func fromProtections(p *access.Project, environments []Environment, now time.Time) []Protection {
	all := []Protection{}
	for _, e := range environments {
		protection := p.ProtectionOf(e.Name)
		protection.Freeze = environment.Current(protection.Freeze, now)
		if protection != (access.Protection{}) {
			all = append(all, fromProtection(e.Name, protection))
		}
	}
	return all
}

func fromProtection(environment string, p access.Protection) Protection {
	return Protection{
		Environment: environment, ChangeRequestsEnabled: p.ChangeRequests, AllowTurningOff: !p.ForbidsTurningOff,
		RequiredApprovals: approvals(p.RequiredApprovals), Freeze: fromFreeze(p.Freeze),
	}
}

// stored returns the protection as it is stored, without a freeze that has ended.
func (p Protection) stored(now time.Time) (access.Protection, error) {
	freeze, err := storedFreeze(p.Freeze, now)
	if err != nil {
		return access.Protection{}, err
	}
	stored := access.Protection{
		ChangeRequests: p.ChangeRequestsEnabled, ForbidsTurningOff: !p.AllowTurningOff, Freeze: freeze,
	}
	if p.RequiredApprovals != nil {
		stored.RequiredApprovals = *p.RequiredApprovals
	}
	return stored, environment.CheckProtection(stored.RequiredApprovals, freeze)
}

// approvals returns a number of required approvals in the form of a document.
func approvals(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func fromFreeze(f *access.Freeze) *environment.Freeze {
	if f == nil {
		return nil
	}
	return new(environment.NewFreeze(*f))
}

// storedFreeze returns a freeze as it is stored, or nil if it has ended.
func storedFreeze(f *environment.Freeze, now time.Time) (*access.Freeze, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // no freeze
	}
	from, err := datetime.Parse(f.From)
	if err != nil {
		return nil, fmt.Errorf("%.50q is not a time", f.From)
	}
	until, err := datetime.Parse(f.Until)
	if err != nil {
		return nil, fmt.Errorf("%.50q is not a time", f.Until)
	}
	return environment.Current(&access.Freeze{From: from, Until: until, Reason: f.Reason}, now), nil
}

// stricter returns what at least as much is needed with as with both protections. The freeze is that of a, if it has one.
func stricter(a, b access.Protection) access.Protection {
	return access.Protection{
		ChangeRequests:    a.ChangeRequests || b.ChangeRequests,
		RequiredApprovals: max(a.RequiredApprovals, b.RequiredApprovals),
		ForbidsTurningOff: a.ForbidsTurningOff || b.ForbidsTurningOff,
		Freeze:            cmp.Or(a.Freeze, b.Freeze),
	}
}

// protections returns the protections of a project as they will be stored. An import never makes one less strict.
func (i projects) protections(p Project, old *Project, about *remarks) ([]Protection, error) {
	next := []Protection{}
	if old != nil {
		next = slices.Clone(old.Protections)
	}
	for _, protection := range p.Protections {
		wanted, err := protection.stored(i.now)
		if err != nil {
			return nil, fmt.Errorf("its protection of the environment %.100q is not valid: %w", protection.Environment, err)
		}
		if _, exists := i.environments[protection.Environment]; !exists {
			about.note("its protection of the environment %.100q was left out: it does not exist here%s",
				protection.Environment, i.howToCreate(protection.Environment))
			continue
		}
		k := slices.IndexFunc(next, func(other Protection) bool { return other.Environment == protection.Environment })
		if k < 0 {
			next = append(next, fromProtection(protection.Environment, wanted))
			continue
		}
		here, err := next[k].stored(i.now)
		if err != nil {
			return nil, err
		}
		merged := fromProtection(protection.Environment, stricter(here, wanted))
		different, err := differing(fromProtection(protection.Environment, wanted), merged)
		if err != nil {
			return nil, err
		}
		if len(different) > 0 {
			about.note("its protection of the environment %.100q stays as strict as it is here", protection.Environment)
		}
		next[k] = merged
	}
	return next, nil
}

// protect stores the protections of a project, unless they have become stricter since they were prepared.
func (i Installation) protect(ctx context.Context, p Project) error {
	if len(p.Protections) == 0 {
		return nil
	}
	here, err := i.Projects.Get(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, protection := range p.Protections {
		next, err := protection.stored(i.Now())
		if err != nil {
			return err
		}
		old := here.ProtectionOf(protection.Environment)
		if err := i.Projects.EditConfig(ctx, p.ID, protection.Environment, func(stored access.Protection) access.Protection {
			return stricter(stored, next)
		}, project.Always); err != nil {
			return err
		}
		if environment.Current(old.Freeze, i.Now()) != nil || next.Freeze == nil {
			continue
		}
		if err := i.Projects.SetFreeze(ctx, p.ID, protection.Environment, next.Freeze); err != nil {
			return err
		}
	}
	return nil
}

// protectEnvironment sets what of the protection of an environment in all projects an import sets, and reports whether the
// one of old is stricter. old can be nil.
func protectEnvironment(e, old *Environment, now time.Time) (stays bool, err error) {
	next, err := Protection{RequiredApprovals: e.RequiredApprovals, Freeze: e.Freeze}.stored(now)
	if err != nil {
		return false, err
	}
	merged := next
	if old != nil {
		here, err := Protection{RequiredApprovals: old.RequiredApprovals, Freeze: old.Freeze}.stored(now)
		if err != nil {
			return false, err
		}
		merged = stricter(here, next)
	}
	e.RequiredApprovals, e.Freeze = approvals(merged.RequiredApprovals), fromFreeze(merged.Freeze)
	different, err := differing(fromProtection("", next), fromProtection("", merged))
	return len(different) > 0, err
}

// freeze freezes an environment in all projects as the document says.
func (i Installation) freeze(ctx context.Context, e Environment) error {
	freeze, err := storedFreeze(e.Freeze, i.Now())
	if err != nil || freeze == nil {
		return err
	}
	return i.Environments.SetFreeze(ctx, e.Name, freeze)
}
