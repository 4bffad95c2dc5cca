package references

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// Checker compares the stored references to the resources of a table with what uses them. Responses show the
// references, and a used resource cannot be deleted, and nothing can end the use of a resource that does not exist.
type Checker struct {
	Store      Store
	Kind       string                 // of the resources, such as "context field"
	IsResource func(dynamo.Item) bool // whether an item of the table that has no references is that of a resource

	// Count returns the references to each resource that has some.
	Count func(context.Context) (map[string]Counts, error)

	// Restore returns the repair that creates a resource that is used. nil: Advice is what an operator can do.
	Restore func(resource string) func(context.Context) error
	Advice  string
}

// Check is a consistency.Check.
func (c Checker) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	// before the users: a repair does not replace references that change later
	exists, stored, err := c.Store.scan(ctx, c.IsResource)
	if err != nil {
		return "", nil, err
	}
	counted, err := c.Count(ctx)
	if err != nil {
		return "", nil, err
	}
	names := map[string]bool{}
	maps.Copy(names, exists)
	for _, all := range []map[string]Counts{stored, counted} {
		for name := range all {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if i, ok := c.compare(name, exists[name], stored[name], counted[name]); ok {
			found = append(found, i)
		}
	}
	return fmt.Sprintf("%d, consistent with what uses them", len(exists)), found, nil
}

// compare compares the stored references to a resource with those that were counted. ok is false if they are equal.
func (c Checker) compare(name string, exists bool, stored, counted Counts) (i consistency.Inconsistency, ok bool) {
	switch {
	case !exists && !counted.same(Counts{}):
		i.Text = fmt.Sprintf("the %s %q, which is used, does not exist", c.Kind, name)
		if c.Restore != nil {
			i.Repair = c.Restore(name)
		} else {
			i.Advice = c.Advice
		}
	case !exists:
		i.Text = fmt.Sprintf("the %s %q, whose references are stored, does not exist", c.Kind, name)
		i.Repair = c.Store.remove(name, stored)
	case stored.ByProject == nil:
		i.Text = fmt.Sprintf("the %s %q has no counts", c.Kind, name)
		i.Repair = c.Store.replace(name, stored, counted)
	case !stored.same(counted):
		i.Text = fmt.Sprintf("the %s %q counts %s, and is used by %s", c.Kind, name, stored.text(), counted.text())
		i.Repair = c.Store.replace(name, stored, counted)
	default:
		return i, false
	}
	return i, true
}
