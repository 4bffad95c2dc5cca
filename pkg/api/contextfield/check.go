package contextfield

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Check compares the stored usage of the context fields with the toggles. It returns a consistency.Check. Lists of
// context fields show the usage, a used field cannot be deleted, and a toggle cannot release a field that does not
// exist. count returns the usage of each field that toggles use.
func (s *Store) Check(count func(context.Context) (map[string]Usage, error)) consistency.Check {
	return func(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
		// before the toggles: a repair does not replace usage that changes later
		exists, stored, err := s.readUsage(ctx)
		if err != nil {
			return "", nil, err
		}
		counted, err := count(ctx)
		if err != nil {
			return "", nil, err
		}
		names := map[string]bool{}
		for _, all := range []map[string]bool{exists, keys(stored), keys(counted)} {
			maps.Copy(names, all)
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if i, ok := s.checkUsage(name, exists[name], stored[name], counted[name]); ok {
				found = append(found, i)
			}
		}
		return fmt.Sprintf("%d, consistent with the toggles that use them", len(exists)), found, nil
	}
}

func keys[V any](m map[string]V) map[string]bool {
	names := map[string]bool{}
	for name := range m {
		names[name] = true
	}
	return names
}

// readUsage returns the names of the fields, and the items with the usage of a field by its name.
func (s *Store) readUsage(ctx context.Context) (exists map[string]bool, stored map[string]dynamo.Item, err error) {
	exists = map[string]bool{}
	stored = map[string]dynamo.Item{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, nil, fmt.Errorf("read the context fields: %w", err)
		}
		if IsField(item) {
			exists[item.String(hash)] = true
		} else if field, ok := FieldOfUsage(item); ok {
			stored[field] = item
		}
	}
	return exists, stored, nil
}

// checkUsage compares the stored usage of a field with the usage that was counted. ok is false if they are equal.
func (s *Store) checkUsage(
	name string, exists bool, stored dynamo.Item, counted Usage,
) (i consistency.Inconsistency, ok bool) {
	usage, hasUsage := UsageFromItem(stored)
	switch {
	case !exists && len(counted) > 0:
		i.Text = fmt.Sprintf("the context field %q, which toggles use, does not exist", name)
		i.Repair = s.addUsed(name)
	case !exists:
		i.Text = fmt.Sprintf("the context field %q, whose usage is stored, does not exist", name)
		i.Repair = dynamo.DeleteItem(s.client, s.table, UsageKey(name), AttributeUsage, stored[AttributeUsage])
	case !hasUsage:
		i.Text = fmt.Sprintf("the context field %q has no counts", name)
		i.Repair = s.setUsage(name, stored, counted)
	case !maps.Equal(usage, counted):
		i.Text = fmt.Sprintf("the context field %q counts %s, and its toggles are %s", name, usage.text(), counted.text())
		i.Repair = s.setUsage(name, stored, counted)
	default:
		return i, false
	}
	return i, true
}

func (s *Store) setUsage(name string, stored dynamo.Item, counted Usage) func(context.Context) error {
	return dynamo.ReplaceAttribute(s.client, s.table, UsageKey(name), []string{AttributeUsage}, stored[AttributeUsage],
		counted.Value())
}

// addUsed returns the repair that adds a field without legal values, because the toggles that use it keep their
// constraints. The next Check finds that its usage is wrong.
func (s *Store) addUsed(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		created := datetime.Milliseconds(s.log.Now())
		_, err := s.Create(ctx, ContextField{Name: name, Last: true, CreatedAt: &created})
		return err
	}
}

// text returns the usage for a person to read.
func (u Usage) text() string {
	var all []string
	for _, project := range slices.Sorted(maps.Keys(u)) {
		all = append(all, fmt.Sprintf("%s: %d", project, u[project]))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
