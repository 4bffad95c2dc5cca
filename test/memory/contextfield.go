package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/datetime"
)

// ContextFields is the table of that name.
type ContextFields struct{ *tables }

var _ contextfield.Lister = (*ContextFields)(nil)

// List implements contextfield.Lister.
func (s *ContextFields) List(ctx context.Context) (all []contextfield.ContextField, err error) {
	err = s.read(ctx, "ContextFields.List", func() error {
		for _, f := range s.fields {
			all = append(all, copyField(f))
		}
		return nil
	})
	slices.SortFunc(all, func(a, b contextfield.ContextField) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return all, err
}

// Create adds a field that is not there yet, unused; one that is stays as it is.
func (s *ContextFields) Create(ctx context.Context, f contextfield.ContextField) error {
	return s.write(ctx, "ContextFields.Create", func() error {
		if _, exists := s.fields[f.Name]; !exists {
			f.Usage = nil
			s.fields[f.Name] = copyField(f)
		}
		return nil
	})
}

func copyField(f contextfield.ContextField) contextfield.ContextField {
	f.CreatedAt = copyTime(f.CreatedAt)
	f.LegalValues = slices.Clone(f.LegalValues)
	f.Usage = copyMap(f.Usage)
	return f
}

// copyTime gives what is stored of a time: milliseconds.
func copyTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(datetime.Milliseconds(*t))
}
