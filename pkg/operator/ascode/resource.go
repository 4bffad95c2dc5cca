package ascode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// Kind is a kind of resources: the property kind of a document.
type Kind string

// The kinds of resources. A toggle also is a document without the property.
const (
	KindType    Kind = "toggle-type"
	KindField   Kind = "context-field"
	KindProject Kind = "project"
	KindSegment Kind = "segment"
	KindToggle  Kind = "toggle"

	// These no document describes.
	KindEnvironment Kind = "environment" // of a project
	KindRequest     Kind = "change-request"
)

// Kinds returns the kinds that documents describe, in the order in which a plan makes their resources: a resource needs
// those of the kinds before it.
func Kinds() []Kind { return []Kind{KindType, KindField, KindProject, KindSegment, KindToggle} }

// String returns the words for a resource of the kind.
func (k Kind) String() string { return strings.ReplaceAll(string(k), "-", " ") }

// Ref names a resource.
type Ref struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`              // or the id, of a kind that has one
	Project string `json:"project,omitempty"` // to which it belongs
}

// String returns the resource as a sentence names it.
func (r Ref) String() string { return r.Kind.String() + " " + r.Name }

// key returns what only one resource has.
func (r Ref) key() Ref {
	if r.Kind != KindEnvironment {
		r.Project = ""
	}
	if r.Kind == KindProject || r.Kind == KindSegment || r.Kind == KindType { // names without regard to letter case
		r.Name = strings.ToLower(r.Name)
	}
	return r
}

// Resource is what a document describes: a toggle, or what toggles share.
type Resource interface {
	// Ref returns the name of the resource.
	Ref() Ref
	// place returns the file and the line of a part, which a JSON pointer without the first slash names.
	place(pointer string) string
	// check returns an error for a resource that no installation can have, or that the API cannot be asked about.
	check() error
	// plan returns the step that makes the resource as it is described. It has no changes if the resource is so.
	plan(ctx context.Context, p *planner) (Step, error)
}

// newResource returns an empty resource of a kind, or nil for another text.
func newResource(kind Kind, d document) Resource {
	switch kind {
	case KindType:
		return &ToggleType{document: d}
	case KindField:
		return &ContextField{document: d}
	case KindProject:
		return &Project{document: d}
	case KindSegment:
		return &Segment{document: d}
	case KindToggle:
		return &Toggle{document: d}
	default:
		return nil
	}
}

// Of returns the resources of a kind.
func Of(all []Resource, kind Kind) []Resource {
	return slices.DeleteFunc(slices.Clone(all), func(r Resource) bool { return r.Ref().Kind != kind })
}

// document is where a resource is described. It is empty for one that the API has described.
type document struct {
	file string
	node *yaml.Node
}

func (d document) place(pointer string) string {
	node := d.node
	if node.Kind == yaml.DocumentNode {
		node = node.Content[0]
	}
	for token := range strings.FieldsFuncSeq(pointer, func(r rune) bool { return r == '/' }) {
		next := child(node, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if next == nil {
			break
		}
		node = next
	}
	return fmt.Sprintf("%s:%d", d.file, node.Line)
}

// property returns a property of the document, or nil.
func (d document) property(name string) *yaml.Node {
	if len(d.node.Content) == 0 {
		return nil
	}
	return child(d.node.Content[0], name)
}

// child returns the value of a property, or an element of a list; nil: there is none.
func child(node *yaml.Node, token string) *yaml.Node {
	switch node.Kind { //nolint:exhaustive // the others have no parts
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == token {
				return node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i]
		}
	}
	return nil
}

// checkBody returns the JSON form of a resource as the body of an operation, or what is wrong with it.
func checkBody(r Resource, schema *jsonbody.Schema, rules ...jsonbody.Rule) (jsonbody.Object, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the %v: %w", r.Ref(), err)
	}
	body, err := schema.Decode(text, rules...)
	if invalid, ok := errors.AsType[*apierror.Error](err); ok {
		return nil, fmt.Errorf("%s: %s", r.place(inDocument(invalid.Details[0].Path)), invalid.Message)
	}
	return body, err
}

// inDocument returns the place in a document of a place in the body of an operation.
func inDocument(pointer string) string { return strings.TrimPrefix(pointer, "/body/") }
