package contextfield

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// List returns all fields, ordered by sort order, then by name in code point order. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]ContextField, error) {
	var all []ContextField
	used := map[string]references.Counts{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list context fields: %w", err)
		}
		if IsField(item) {
			f, err := fromItem(item)
			if err != nil {
				return nil, fmt.Errorf("list context fields: %w", err)
			}
			all = append(all, f)
			continue
		}
		if name, ok := s.references.ResourceOf(item); ok {
			used[name], _ = references.FromItem(item)
		}
	}
	for i := range all {
		all[i].References = used[all[i].Name]
	}
	slices.SortFunc(all, func(a, b ContextField) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Get returns one field. The kind of its error is NotFound if there is none. It is one consistent read of two items.
func (s *Store) Get(ctx context.Context, name string) (ContextField, error) {
	items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{key(name), s.references.Key(name)})
	if err != nil {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
	}
	var f ContextField
	var used references.Counts
	for _, item := range items {
		if counts, ok := references.FromItem(item); ok {
			used = counts
		} else if IsField(item) {
			if f, err = fromItem(item); err != nil {
				return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
			}
		}
	}
	if f.Name == "" {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, notFound(name))
	}
	f.References = used
	return f, nil
}

// Named returns the fields with some names that exist, by name, without their references. The read is consistent.
func (s *Store) Named(ctx context.Context, names []string) (map[string]ContextField, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = key(name)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("get %d context fields: %w", len(names), err)
	}
	all := map[string]ContextField{}
	for _, item := range items {
		f, err := fromItem(item)
		if err != nil {
			return nil, err
		}
		if IsField(item) {
			all[f.Name] = f
		}
	}
	return all, nil
}

// Unchanged returns the condition, in a transaction that writes a constraint on a field, that the field has not changed
// since it was read.
func (s *Store) Unchanged(f ContextField) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, key(f.Name), eventlog.ExistsWithLast(hash, f.LastEvent))
}
