package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// fields compares the usage of the context fields with the toggles. Lists of context fields show it, a used field
// cannot be deleted, and a toggle cannot release a field that does not exist.
func (d *doctor) fields(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	exists := map[string]bool{}
	stored := map[string]dynamo.Item{} // by field: the item with its usage
	// before the toggles: usage that changes later is not replaced
	for item, err := range dynamo.Scan(ctx, i.Client, i.Tables.ContextFields) {
		if err != nil {
			return "", nil, fmt.Errorf("read the context fields: %w", err)
		}
		if contextfield.IsField(item) {
			exists[item.String("name")] = true
		} else if field, ok := contextfield.FieldOfUsage(item); ok {
			stored[field] = item
		}
	}
	toggles, err := feature.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return "", nil, err
	}
	recount := map[string]contextfield.Usage{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(exists)), slices.Collect(maps.Keys(stored))) {
		recount[name] = contextfield.Usage{}
	}
	for _, t := range toggles {
		if t.Archived {
			continue
		}
		for _, name := range t.ContextFields {
			if recount[name] == nil {
				recount[name] = contextfield.Usage{}
			}
			recount[name][t.Project]++
		}
	}
	var found []inconsistency
	for _, name := range slices.Sorted(maps.Keys(recount)) {
		usage, counted := contextfield.UsageFromItem(stored[name])
		switch {
		case !exists[name] && len(recount[name]) > 0:
			found = append(found, inconsistency{
				text:   fmt.Sprintf("the context field %q, which toggles use, does not exist", name),
				repair: d.addField(name),
			})
		case !exists[name]:
			found = append(found, inconsistency{
				text: fmt.Sprintf("the context field %q, whose usage is stored, does not exist", name),
				repair: d.remove(i.Tables.ContextFields, contextfield.UsageKey(name), contextfield.AttributeUsage,
					stored[name][contextfield.AttributeUsage]),
			})
		case !counted || !maps.Equal(usage, recount[name]):
			text := fmt.Sprintf("the context field %q counts %s, and its toggles are %s", name, counts(usage),
				counts(recount[name]))
			if !counted {
				text = fmt.Sprintf("the context field %q has no counts", name)
			}
			found = append(found, inconsistency{
				text: text,
				repair: d.replace(i.Tables.ContextFields, contextfield.UsageKey(name), []string{contextfield.AttributeUsage},
					stored[name][contextfield.AttributeUsage], recount[name].Value()),
			})
		}
	}
	return fmt.Sprintf("%d, consistent with %d toggles", len(exists), len(toggles)), found, nil
}

// addField returns the repair that adds a field without legal values, because the toggles that use it keep their
// constraints.
func (d *doctor) addField(name string) func(context.Context) error {
	i := d.Installation
	return func(ctx context.Context) error {
		_, err := contextfield.NewStore(i.Client, i.Tables, i.Log(d.Now)).Create(ctx, contextfield.ContextField{
			Name:      name,
			CreatedAt: new(datetime.Milliseconds(d.Now())),
			Last:      true,
		})
		return err
	}
}

func counts(usage contextfield.Usage) string {
	var all []string
	for _, project := range slices.Sorted(maps.Keys(usage)) {
		all = append(all, fmt.Sprintf("%s: %d", project, usage[project]))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
