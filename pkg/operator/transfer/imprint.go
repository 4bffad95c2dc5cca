package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/toggle"
)

// errChangedHere is why an import leaves a toggle as it is.
var errChangedHere = errors.New("it was changed here since the last import")

// imprint returns the state of a toggle that an import writes, in the form of toggle.Feature.Imported: a line with a hash
// of what is equal in all environments, and a line for each environment that the document has, with its name and a hash.
// A later import compares it with the stored state, so that it sees what people have changed since. The lines of other
// environments stay as they were before.
func imprint(t toggle.FeatureJSON, environments []string, before string) string {
	f := toggle.Feature{Environments: t.Environments, ContextFields: t.ContextFields, Dependency: t.Dependency}
	t.CreatedAt, t.CreatedBy, t.ArchivedAt = nil, nil, nil            // nobody changes them
	t.ManagedBy, t.Owner, t.KeepUntil, t.KeepReason = "", nil, "", "" // imports keep them
	t.Environments, t.ContextFields = nil, f.OtherContextFields()
	t.Dependency = f.Normalized().Dependency
	lines := []string{hashOf(t)}
	states := f.Normalized().Environments
	for _, name := range slices.Compact(slices.Sorted(slices.Values(environments))) {
		lines = append(lines, name+" "+hashOf(states[name]))
	}
	for _, line := range strings.Split(before, "\n")[1:] {
		if name, _, _ := strings.Cut(line, " "); !slices.Contains(environments, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// hashOf returns the first 8 bytes of a hash of the JSON form of a value.
func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode a toggle: %v", err)) // a defect of the program: no value can fail
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:8])
}

// changedHere reports whether a stored toggle is not as the last import has written it, or was archived without one. What
// belongs to environments that no longer exist does not count.
func changedHere(stored, imported toggle.FeatureJSON, imprinted string, exists func(environment string) bool) bool {
	if imprinted == "" {
		return stored.Archived && !imported.Archived
	}
	common, states, _ := strings.Cut(imprinted, "\n")
	var environments []string
	for line := range strings.Lines(states) {
		if name, _, _ := strings.Cut(line, " "); exists(name) {
			environments = append(environments, name)
		}
	}
	now := strings.Split(imprint(stored, environments, ""), "\n")
	return now[0] != common || slices.ContainsFunc(now[1:], func(line string) bool {
		return !slices.Contains(strings.Split(states, "\n"), line)
	})
}

// environmentsOf returns the environments of a toggle whose state the document says, and that exist here.
func (r resources) environmentsOf(t toggle.FeatureJSON) []string {
	names := slices.Collect(maps.Keys(t.Environments))
	for _, e := range r.listed {
		names = append(names, e.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, exists := r.environments[name]
		return !exists
	})
}
