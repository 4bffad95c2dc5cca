package transfer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// fromEnvironment returns an environment, without a freeze that has ended.
func fromEnvironment(e environment.Environment, now time.Time) Environment {
	return Environment{
		Name: e.Name, Type: e.Type, SortOrder: e.SortOrder, RequiredApprovals: approvals(e.RequiredApprovals),
		Freeze: environment.CurrentFreeze(e.Freeze, now),
	}
}

// assign sets what an import sets of an environment. The freeze is a separate change.
func (e Environment) assign(stored *environment.Environment) {
	stored.Type, stored.SortOrder, stored.RequiredApprovals = e.Type, e.SortOrder, 0
	if e.RequiredApprovals != nil {
		stored.RequiredApprovals = *e.RequiredApprovals
	}
}

// unlisted returns the environments that do not exist, and that the document does not list: those that projects have, and
// those that toggles have with a state there.
func (d Document) unlisted(stored []Environment) []Environment {
	used := map[string]bool{}
	for _, p := range d.Projects {
		for _, name := range p.Environments {
			used[name] = true
		}
	}
	for _, t := range d.Features {
		for name, e := range t.Environments {
			used[name] = used[name] || e.Enabled || len(e.Strategies) > 0
		}
	}
	return slices.DeleteFunc(slices.Clone(d.Unlisted), func(e Environment) bool {
		exists := slices.ContainsFunc(stored, func(other Environment) bool { return other.Name == e.Name })
		return exists || !used[e.Name]
	})
}

// howToCreate names the option that creates an environment.
func (d Document) howToCreate(name string) string {
	if slices.ContainsFunc(d.Unlisted, func(e Environment) bool { return e.Name == name }) {
		return " (--create-environments creates it)"
	}
	return ""
}

// createEnvironment creates an environment. The kind of its error is Conflict if the deletion of one with the name has
// not ended.
func (i Installation) createEnvironment(ctx context.Context, e Environment) error {
	created := environment.Environment{Name: e.Name}
	e.assign(&created)
	_, err := i.Environments.Create(ctx, created)
	if _, pending := errors.AsType[*environment.PendingError](err); pending {
		return apierror.New(apierror.Conflict, "The deletion of this environment has not ended. Delete it again first.")
	}
	if err != nil {
		return err
	}
	return i.freeze(ctx, e)
}

func (i Installation) updateEnvironment(ctx context.Context, e Environment) error {
	_, err := i.Environments.Update(ctx, e.Name, func(stored *environment.Environment) error {
		e.assign(stored)
		return nil
	})
	if err != nil {
		return err
	}
	return i.freeze(ctx, e)
}

// prepareEnvironment returns an environment as it will be stored. names are those of the environments that exist here. An
// import never makes the protection of an environment less strict.
func prepareEnvironment(
	e Environment, old *Environment, names map[string]bool, now time.Time,
) (Environment, remarks, error) {
	var about remarks
	if err := environment.CheckName(e.Name); err != nil {
		return e, about, fmt.Errorf("its name is not valid: %w", err)
	}
	if n := utf8.RuneCountInString(e.Type); n < 1 || n > toggle.MaxName {
		return e, about, fmt.Errorf("its type %.50q is not valid: use 1 to %d characters", e.Type, toggle.MaxName)
	}
	if e.SortOrder < math.MinInt32 || e.SortOrder > math.MaxInt32 {
		return e, about, fmt.Errorf("its sort order of %d is not valid", e.SortOrder)
	}
	stays, err := protectEnvironment(&e, old, now)
	if err != nil {
		return e, about, err
	}
	if stays {
		about.note("its protection stays as strict as it is here")
	}
	if old != nil {
		return e, about, nil
	}
	for name := range names {
		if name != e.Name && strings.EqualFold(name, e.Name) {
			return e, about, fmt.Errorf("the name of the environment %s differs in letter case only", name)
		}
	}
	if len(names) >= environment.Limit {
		return e, about, fmt.Errorf("the maximum number of environments is %d", environment.Limit)
	}
	names[e.Name] = true
	return e, about, nil
}

// readEnvironment is merge.read of environments.
func (i Installation) readEnvironment(ctx context.Context, name string) (Environment, error) {
	all, err := i.Environments.List(ctx)
	if err != nil {
		return Environment{}, err
	}
	found, err := named(all, name, func(e environment.Environment) string { return e.Name })
	return fromEnvironment(found, i.Now()), err
}
