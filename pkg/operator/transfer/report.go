package transfer

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

func newSection() Section {
	return Section{Created: []string{}, Updated: []Update{}, Skipped: []Remark{}, Notes: []Remark{}}
}
