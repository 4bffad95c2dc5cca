package transfer

import "slices"

// Report is what an import did, or with DryRun would do. Its JSON form is the output of `toggleadmin import --json`.
type Report struct {
	DryRun        bool    `json:"dryRun"`
	FeatureTypes  Section `json:"featureTypes"`
	ContextFields Section `json:"contextFields"`
	Environments  Section `json:"environments"`
	Segments      Section `json:"segments"`
	Features      Section `json:"features"`
	Accounts      Section `json:"accounts"`
}

// Section is what an import did with the elements of a kind.
type Section struct {
	Created   []string `json:"created"`
	Updated   []Update `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Skipped   []Remark `json:"skipped"` // neither created nor updated
	Notes     []Remark `json:"notes"`   // what was not taken over of the others, and the rights of new accounts
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

// occursTwice is why all but the first of several elements with an id are skipped.
const occursTwice = "it occurs more than once"

// skips reports whether no element with a name was written.
func (s *Section) skips(name string) bool {
	return slices.ContainsFunc(s.Skipped, func(r Remark) bool { return r.Name == name && r.Text != occursTwice })
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
	return Section{Created: []string{}, Updated: []Update{}, Skipped: []Remark{}, Notes: []Remark{}}
}
