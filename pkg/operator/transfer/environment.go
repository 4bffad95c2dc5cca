package transfer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

func fromEnvironment(e environment.Environment) Environment {
	return Environment{Name: e.Name, Type: e.Type, SortOrder: e.SortOrder}
}

// unlisted returns the environments that only toggles of the document have, with a state there, and that do not exist.
func (d Document) unlisted(stored []Environment) []Environment {
	used := map[string]bool{}
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
func (r resources) howToCreate(name string) string {
	if slices.ContainsFunc(r.unlisted, func(e Environment) bool { return e.Name == name }) {
		return " (--create-environments creates it)"
	}
	return ""
}

// createEnvironment creates an environment. The kind of its error is Conflict if the deletion of one with the name has
// not ended.
func (i Installation) createEnvironment(ctx context.Context, e Environment) error {
	created := environment.Environment{Name: e.Name, Type: e.Type, SortOrder: e.SortOrder}
	_, err := i.Environments.Create(ctx, created)
	if _, pending := errors.AsType[*environment.PendingError](err); pending {
		return apierror.New(apierror.Conflict, "The deletion of this environment has not ended. Delete it again first.")
	}
	return err
}

// prepareEnvironment returns an environment as it will be stored. names are those of the environments that exist here.
func prepareEnvironment(e Environment, old *Environment, names map[string]bool) (Environment, remarks, error) {
	if err := environment.CheckName(e.Name); err != nil {
		return e, remarks{}, fmt.Errorf("its name is not valid: %w", err)
	}
	if n := utf8.RuneCountInString(e.Type); n < 1 || n > toggle.MaxName {
		return e, remarks{}, fmt.Errorf("its type %.50q is not valid: use 1 to %d characters", e.Type, toggle.MaxName)
	}
	if e.SortOrder < math.MinInt32 || e.SortOrder > math.MaxInt32 {
		return e, remarks{}, fmt.Errorf("its sort order of %d is not valid", e.SortOrder)
	}
	if old != nil {
		return e, remarks{}, nil
	}
	for name := range names {
		if name != e.Name && strings.EqualFold(name, e.Name) {
			return e, remarks{}, fmt.Errorf("the name of the environment %s differs in letter case only", name)
		}
	}
	if len(names) >= environment.Limit {
		return e, remarks{}, fmt.Errorf("the maximum number of environments is %d", environment.Limit)
	}
	names[e.Name] = true
	return e, remarks{}, nil
}

// readEnvironment returns the environment with a name, which another process has created. The kind of the error is
// Conflict if its name differs in letter case.
func (i Installation) readEnvironment(ctx context.Context, name string) (Environment, error) {
	all, err := i.Environments.List(ctx)
	if err != nil {
		return Environment{}, err
	}
	err = environment.NotFound(name)
	for _, e := range all {
		if e.Name == name {
			return fromEnvironment(e), nil
		}
		if strings.EqualFold(e.Name, name) {
			err = apierror.New(apierror.Conflict, "The name of another environment differs in letter case only.")
		}
	}
	return Environment{}, err
}
