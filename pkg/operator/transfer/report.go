package transfer

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/toggle"
)

// Report is what an import did, or with DryRun would do. Its JSON form is the output of `toggleadmin import --json`.
type Report struct {
	DryRun        bool    `json:"dryRun"`
	FeatureTypes  Section `json:"featureTypes"`
	ContextFields Section `json:"contextFields"`
	Environments  Section `json:"environments"`
	Roles         Section `json:"roles"`
	Groups        Section `json:"groups"`
	Projects      Section `json:"projects"`
	Segments      Section `json:"segments"`
	TagTypes      Section `json:"tagTypes,omitzero"` // absent if the document has none
	Features      Section `json:"features"`
	Accounts      Section `json:"accounts"`

	ChangedHere []string `json:"changedHere"` // toggles that were changed here since the last import, and are left as they are
	OnlyHere    OnlyHere `json:"onlyHere"`
	NotImported []Other  `json:"notImported"` // what this service does not keep
}

// HasLosses reports whether something of the document is missing here, so that applications can get other results.
func (r Report) HasLosses() bool {
	for _, s := range []Section{
		r.FeatureTypes, r.ContextFields, r.Environments, r.Roles, r.Groups, r.Projects, r.Segments, r.TagTypes, r.Features,
		r.Accounts,
	} {
		if len(s.Skipped)+len(s.Losses) > 0 {
			return true
		}
	}
	return false
}

// OnlyHere are the names of what a complete document does not have. Archived toggles do not count.
type OnlyHere struct {
	FeatureTypes  []string `json:"featureTypes"`
	ContextFields []string `json:"contextFields"`
	Environments  []string `json:"environments"`
	Projects      []string `json:"projects"`
	Segments      []string `json:"segments"`
	Features      []string `json:"features"`
}

// onlyHere compares what is stored with a document. used are the fields that its strategies use, project is that of its
// toggles; empty: it has all.
func onlyHere(d Document, used map[string]bool, stored Document, project string) OnlyHere {
	missing := func(names, document []string) []string {
		has := map[string]bool{}
		for _, name := range document {
			has[name] = true
		}
		return append([]string{}, slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool {
			return !d.Complete || has[name]
		})...)
	}
	active := slices.DeleteFunc(slices.Clone(stored.Features), func(t toggle.FeatureJSON) bool {
		return t.Archived || project != "" && t.Project != project
	})
	o := OnlyHere{Features: missing(namesOf(active, featureName), namesOf(d.Features, featureName))}
	if project != "" { // the document has only what the toggles use
		d.Complete = false
	}
	types := func(t toggle.Type) string { return toggle.NormalTypeID(t.ID) }
	fields := func(f ContextField) string { return f.Name }
	environments := func(e Environment) string { return e.Name }
	segments := func(s Segment) string { return s.Name }
	o.FeatureTypes = missing(namesOf(stored.FeatureTypes, types), namesOf(d.FeatureTypes, types))
	o.ContextFields = missing(namesOf(stored.ContextFields, fields),
		slices.AppendSeq(namesOf(d.ContextFields, fields), maps.Keys(used)))
	o.Environments = missing(namesOf(stored.Environments, environments),
		append(namesOf(d.Environments, environments), namesOf(d.Unlisted, environments)...))
	projects := func(p Project) string { return p.ID }
	// An open-source Unleash lists one project only; its toggles name the others.
	ofToggles := namesOf(d.Features, func(t toggle.FeatureJSON) string { return t.Project })
	o.Projects = slices.DeleteFunc(
		missing(namesOf(stored.Projects, projects), append(namesOf(d.Projects, projects), ofToggles...)),
		func(id string) bool { return id == toggle.DefaultProject })
	o.Segments = missing(namesOf(stored.Segments, segments), namesOf(d.Segments, segments))
	return o
}

func featureName(t toggle.FeatureJSON) string { return t.Name }

// namesOf returns the names of elements.
func namesOf[T any](elements []T, name func(T) string) []string {
	var names []string
	for _, e := range elements {
		names = append(names, name(e))
	}
	return names
}

// Section is what an import did with the elements of a kind.
type Section struct {
	Created   []string `json:"created"`
	Updated   []Update `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Skipped   []Remark `json:"skipped"` // neither created nor updated
	Losses    []Remark `json:"losses"`  // what the others lack, so that applications can get other results
	Notes     []Remark `json:"notes"`   // what else differs, and the rights of new accounts
}

// Empty reports whether the document had nothing for the section.
func (s Section) Empty() bool { return len(s.Created)+len(s.Updated)+len(s.Skipped)+s.Unchanged == 0 }

// Update is what an import changed.
type Update struct {
	Name       string   `json:"name"`
	Properties []string `json:"properties"`
}

// Remark is a text about an element.
type Remark struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// remarks are about an element that an import writes.
type remarks struct{ losses, notes []string }

func (r *remarks) lose(format string, args ...any) {
	r.losses = append(r.losses, fmt.Sprintf(format, args...))
}

func (r *remarks) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *remarks) add(other remarks) {
	r.losses, r.notes = append(r.losses, other.losses...), append(r.notes, other.notes...)
}

// add adds remarks about an element.
func (s *Section) add(name string, r remarks) {
	for _, text := range r.losses {
		s.Losses = append(s.Losses, Remark{name, text})
	}
	for _, text := range r.notes {
		s.Notes = append(s.Notes, Remark{name, text})
	}
}

// occursTwice is why all but the first of several elements with an id are skipped.
const occursTwice = "it occurs more than once"

// skips reports whether no element with a name was written.
func (s *Section) skips(name string) bool {
	return slices.ContainsFunc(s.Skipped, func(r Remark) bool { return r.Name == name && r.Text != occursTwice })
}

// isUpdated reports whether an element was created or updated.
func (s *Section) isUpdated(name string) bool {
	isNamed := func(u Update) bool { return u.Name == name }
	return slices.Contains(s.Created, name) || slices.ContainsFunc(s.Updated, isNamed)
}

// update adds a change of a property of an element that was written.
func (s *Section) update(name, property string) {
	if slices.Contains(s.Created, name) {
		return
	}
	for i, u := range s.Updated {
		if u.Name == name {
			properties := append(slices.Clone(u.Properties), property)
			slices.Sort(properties)
			s.Updated[i].Properties = slices.Compact(properties)
			return
		}
	}
	s.Unchanged--
	s.Updated = append(s.Updated, Update{name, []string{property}})
}

func newSection() Section {
	return Section{Created: []string{}, Updated: []Update{}, Skipped: []Remark{}, Losses: []Remark{}, Notes: []Remark{}}
}
