package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

const totalSize = "#total" // the key of the item of ContextFields with the sum of all sizes

// fields compares the usage counts of the context fields with the toggles, and the sum of their sizes with the sizes.
// Lists of context fields show the counts, a used field cannot be deleted, and a toggle cannot release a field that
// does not exist.
func (d *doctor) fields(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	var found []inconsistency
	stored, sum := map[string]dynamo.Item{}, int64(0)
	// before the toggles: a count that changes later is not replaced
	for item, err := range dynamo.Scan(ctx, i.Client, i.Tables.ContextFields) {
		if err != nil {
			return "", nil, fmt.Errorf("read the context fields: %w", err)
		}
		stored[item.String("name")] = item
		if item.String("name") != totalSize {
			sum += item.Int("size")
		}
	}
	toggles, err := feature.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return "", nil, err
	}
	usage := map[string]dynamo.Item{} // by field: project → number of toggles
	for name := range stored {
		usage[name] = dynamo.Item{}
	}
	for _, t := range toggles {
		for _, name := range t.ContextFields {
			if t.Archived {
				continue
			}
			if usage[name] == nil {
				usage[name] = dynamo.Item{}
			}
			usage[name][t.Project] = dynamo.N(usage[name].Int(t.Project) + 1)
		}
	}
	total := stored[totalSize]
	delete(usage, totalSize)
	for _, name := range slices.Sorted(maps.Keys(usage)) {
		item, exists := stored[name]
		switch {
		case !exists:
			found = append(found, inconsistency{
				text:   fmt.Sprintf("the context field %q, which toggles use, does not exist", name),
				repair: d.addField(name),
			})
		case !sameCounts(item.Map("usage"), usage[name]):
			found = append(found, inconsistency{
				text: fmt.Sprintf("the context field %q counts %s, and its toggles are %s", name, counts(item.Map("usage")),
					counts(usage[name])),
				repair: d.replace(i.Tables.ContextFields, dynamo.Item{"name": dynamo.S(name)}, []string{"usage"}, item["usage"],
					dynamo.M(usage[name])),
			})
		}
	}
	if total.Int("size") != sum {
		found = append(found, inconsistency{
			text: fmt.Sprintf("the sum of the sizes of the context fields is %d, not %d", sum, total.Int("size")),
			repair: d.replace(i.Tables.ContextFields, dynamo.Item{"name": dynamo.S(totalSize)}, []string{"size"}, total["size"],
				dynamo.N(sum)),
		})
	}
	return fmt.Sprintf("%d, consistent with %d toggles and with the sum of their sizes", len(usage), len(toggles)), found,
		nil
}

// addField returns the repair that adds a field without legal values, because the toggles that use it keep their
// constraints.
func (d *doctor) addField(name string) func(context.Context) error {
	i := d.Installation
	return func(ctx context.Context) error {
		store := contextfield.NewStore(i.Client, i.Tables, i.Log(d.Now))
		order, err := store.NextSortOrder(ctx, name)
		if err != nil {
			return err
		}
		return store.Create(ctx, contextfield.ContextField{Name: name, SortOrder: order,
			CreatedAt: new(datetime.Milliseconds(d.Now()))})
	}
}

// sameCounts compares counts of toggles by project. No count is 0.
func sameCounts(a, b dynamo.Item) bool {
	for _, projects := range []map[string]types.AttributeValue{a, b} {
		for project := range projects {
			if a.Int(project) != b.Int(project) {
				return false
			}
		}
	}
	return true
}

func counts(usage dynamo.Item) string {
	var all []string
	for _, project := range slices.Sorted(maps.Keys(usage)) {
		if n := usage.Int(project); n != 0 {
			all = append(all, fmt.Sprintf("%s: %d", project, n))
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
