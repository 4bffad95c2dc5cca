package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/platform/datetime"
)

// importLastSeen stores when applications last used the toggles of a document, in environments that exist here. A
// later time that is stored stays. No time is after that of the import.
func (i Installation) importLastSeen(ctx context.Context, d Document, o Options, known resources, s *Section) error {
	now := i.Now()
	for _, t := range d.Features {
		if s.skips(t.Name) {
			continue
		}
		seen := map[string]time.Time{}
		for _, environment := range slices.Sorted(maps.Keys(d.LastSeen[t.Name])) {
			if _, exists := known.environments[environment]; !exists {
				continue
			}
			text := d.LastSeen[t.Name][environment]
			at, err := datetime.Parse(text)
			if err != nil {
				s.Notes = append(s.Notes, Remark{t.Name, fmt.Sprintf(
					"its last use in %.100s was not imported: %.50q is not a time", environment, text)})
				continue
			}
			seen[environment] = at
			if at.After(now) {
				seen[environment] = now
			}
		}
		if len(seen) == 0 || o.DryRun {
			continue
		}
		if err := i.addLastSeen(ctx, t.Name, seen); err != nil {
			return fmt.Errorf("import the last use of %q: %w", t.Name, err)
		}
	}
	return nil
}

func (i Installation) addLastSeen(ctx context.Context, name string, seen map[string]time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return i.Features.AddLastSeen(ctx, name, seen)
}
