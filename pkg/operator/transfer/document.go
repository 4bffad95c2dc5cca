// Package transfer writes the feature types, context fields, environments, segments, toggles and accounts of an
// installation into a document, and a document into an installation.
package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

const (
	format  = "toggleadmin"
	version = 1
)

// Document is what an installation contains, without secrets. Its JSON form is the output of `toggleadmin export`.
type Document struct {
	Format        string               `json:"format"`
	Version       int                  `json:"version"`
	FeatureTypes  []toggle.Type        `json:"featureTypes"`
	ContextFields []ContextField       `json:"contextFields"`
	Environments  []Environment        `json:"environments"`
	Roles         []Role               `json:"roles"` // custom ones
	Groups        []Group              `json:"groups"`
	Projects      []Project            `json:"projects"`
	Segments      []Segment            `json:"segments"`
	TagTypes      []TagType            `json:"tagTypes,omitempty"`
	Features      []toggle.FeatureJSON `json:"features"`
	Accounts      []Account            `json:"accounts"`

	// Losses and Notes say, by the name of a toggle, what the document cannot express of it. An import lists them.
	Losses map[string][]string `json:"-"`
	Notes  map[string][]string `json:"-"`
	// Unlisted are environments that toggles have and Environments lacks. Options.CreateEnvironments creates them.
	Unlisted []Environment `json:"-"`
	// TurnedOff are the environments in which a toggle is off because the document cannot express its state, by toggle.
	TurnedOff map[string][]string `json:"-"`
	// Kept reports that toggles which were changed here since the last import, or archived only here, stay as they are.
	// Those of another export of this service are replaced.
	Kept bool `json:"-"`
	// Complete reports that the document has everything that the installation has where it comes from.
	Complete bool `json:"-"`
	// Others are what the installation has where the document comes from, and this service does not keep.
	Others []Other `json:"-"`

	// LastSeen is when applications last used toggles where they come from, in RFC 3339, by toggle and environment.
	LastSeen map[string]map[string]string `json:"-"`
}

// Other is a kind of what an import does not take over.
type Other struct {
	Kind   string `json:"kind"`   // in the plural
	Number *int64 `json:"number"` // nil: unknown
}

// Environment is an environment.
type Environment struct {
	Name              string              `json:"name"`
	Type              string              `json:"type"`
	SortOrder         int64               `json:"sortOrder"`
	RequiredApprovals *int64              `json:"requiredApprovals"` // of changes, in each project at least; nil: none
	Freeze            *environment.Freeze `json:"freeze"`            // in all projects; nil: none
}

// ContextField is a context field.
type ContextField struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	Stickiness  bool         `json:"stickiness"`
	SortOrder   int64        `json:"sortOrder"`
	CreatedAt   *string      `json:"createdAt"` // RFC 3339; nil: unknown
	LegalValues []LegalValue `json:"legalValues"`
}

// LegalValue is a value that a context field permits.
type LegalValue struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitempty"`
}

// ErrFormat reports a text that is not a document.
var ErrFormat = errors.New("it is not an export of toggleadmin")

// Parse reads the JSON form of a document. Every property must be known: an import replaces whole values, so a misspelled
// name would delete what it was to set.
func Parse(text []byte) (Document, error) {
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := jsonv2.Unmarshal(text, &header); err != nil {
		return Document{}, explain(err)
	}
	if header.Format != format {
		return Document{}, ErrFormat
	}
	if header.Version != version {
		return Document{}, fmt.Errorf("it has version %d of the format, this program reads %d", header.Version, version)
	}
	var d Document
	if err := jsonv2.Unmarshal(text, &d, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Document{}, explain(err)
	}
	return d, nil
}

// explain names the place of an error in the JSON text, and no type of Go.
func explain(err error) error {
	wrong, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if errors.Is(err, jsonv2.ErrUnknownName) {
		return fmt.Errorf("it has a property with an unknown name: %s", wrong.JSONPointer)
	}
	kind := strings.NewReplacer("[", "array", "{", "object").Replace(wrong.JSONKind.String())
	return fmt.Errorf("the value at \"%s\" cannot be of the type %s", wrong.JSONPointer, kind)
}

// WithoutCreatedAt returns how many toggles of a project, or of all if it is empty, have no time of creation, and how many
// there are.
func (d Document) WithoutCreatedAt(project string) (without, all int) {
	for _, t := range d.Features {
		if project != "" && t.Project != project {
			continue
		}
		all++
		if t.CreatedAt == nil {
			without++
		}
	}
	return without, all
}

// ofProject returns the document with only a project and its toggles, the types, fields and segments that they use, and
// all environments.
func (d Document) ofProject(project string) Document {
	types, fields := map[string]bool{}, map[string]bool{}
	selected := d
	selected.FeatureTypes, selected.ContextFields, selected.Segments = nil, nil, nil
	selected.Features, selected.Accounts = nil, nil
	selected.Projects = slices.DeleteFunc(slices.Clone(d.Projects), func(p Project) bool { return p.ID != project })
	selected.TagTypes = nil
	selected.Roles, selected.Groups = d.usedBy(selected.Projects)
	for _, t := range d.Features {
		if t.Project != project {
			continue
		}
		selected.Features = append(selected.Features, t)
		types[toggle.NormalTypeID(t.Type)] = true
		for _, f := range usedFields(t) {
			fields[f] = true
		}
	}
	tags := map[string]bool{}
	for _, t := range selected.Features {
		for _, tag := range t.Tags {
			tags[tag.Type] = true
		}
	}
	for _, t := range d.TagTypes {
		if tags[t.Name] {
			selected.TagTypes = append(selected.TagTypes, t)
		}
	}
	used := usedSegments(selected.Features)
	for _, s := range d.Segments {
		if !used[s.ID] {
			continue
		}
		selected.Segments = append(selected.Segments, s)
		for _, c := range s.Constraints {
			fields[c.ContextName] = true
		}
	}
	for _, t := range d.FeatureTypes {
		if types[toggle.NormalTypeID(t.ID)] {
			selected.FeatureTypes = append(selected.FeatureTypes, t)
		}
	}
	for _, f := range d.ContextFields {
		if fields[f.Name] {
			selected.ContextFields = append(selected.ContextFields, f)
		}
	}
	return selected
}

func fromField(f contextfield.ContextField) ContextField {
	field := ContextField{
		Name: f.Name, Description: f.Description, Stickiness: f.Stickiness, SortOrder: f.SortOrder,
		CreatedAt: datetime.FormatOptional(f.CreatedAt), LegalValues: []LegalValue{},
	}
	for _, v := range f.LegalValues {
		field.LegalValues = append(field.LegalValues, LegalValue(v))
	}
	return field
}

func (f ContextField) stored() contextfield.ContextField {
	field := contextfield.ContextField{
		Name: f.Name, Description: f.Description, Stickiness: f.Stickiness, SortOrder: f.SortOrder,
		CreatedAt: parsed(f.CreatedAt),
	}
	for _, v := range f.LegalValues {
		field.LegalValues = append(field.LegalValues, contextfield.LegalValue(v))
	}
	return field
}
