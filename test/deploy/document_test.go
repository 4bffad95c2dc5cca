package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// document is a template that can be changed. It is read as it stands: nothing is resolved.
type document struct{ root *yaml.Node }

func readDocument(t *testing.T, file string) *document {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var whole yaml.Node
	if err := yaml.Unmarshal(content, &whole); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return &document{whole.Content[0]}
}

func (d *document) write(t *testing.T, file string) {
	t.Helper()
	content, err := yaml.Marshal(d.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// get gives the value at a place of nested maps; nil where there is none.
func (d *document) get(place ...string) *yaml.Node { return get(d.root, place...) }

// set puts a value at a place, below maps that are there.
func (d *document) set(t *testing.T, value any, place ...string) {
	t.Helper()
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		t.Fatal(err)
	}
	parent, name := d.parent(t, place)
	if at := slices.IndexFunc(keys(parent), func(key string) bool { return key == name }); at >= 0 {
		parent.Content[2*at+1] = &node
		return
	}
	parent.Content = append(parent.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &node)
}

// remove takes a place away, which must be there.
func (d *document) remove(t *testing.T, place ...string) {
	t.Helper()
	parent, name := d.parent(t, place)
	at := slices.Index(keys(parent), name)
	if at < 0 {
		t.Fatalf("the template has no %s", strings.Join(place, "."))
	}
	parent.Content = slices.Delete(parent.Content, 2*at, 2*at+2)
}

func (d *document) parent(t *testing.T, place []string) (parent *yaml.Node, name string) {
	t.Helper()
	last := len(place) - 1
	parent = d.get(place[:last]...)
	if parent == nil {
		t.Fatalf("the template has no %s", strings.Join(place[:last], "."))
	}
	return parent, place[last]
}

// leadHere changes what cannot be played as it stands on AWS. Functions are told the address of DynamoDB by their variable, not by the
// parameter, so that all conditions are decided as on AWS; where the parameter has a value, it is that address anyway.
func (d *document) leadHere(t *testing.T, address string) {
	t.Helper()
	for _, function := range d.ofType("AWS::Serverless::Function") {
		const variable = "DYNAMODB_ENDPOINT"
		if place := []string{"Resources", function, "Properties", "Environment", "Variables", variable}; d.get(place...) != nil {
			d.set(t, address, place...)
		}
	}
	for _, preference := range keys(d.get("Mappings", "Gradual")) { // of which all but one need CodeDeploy, which is not there
		d.set(t, false, "Mappings", "Gradual", preference, "Enabled")
	}
}

// ofType gives the logical ids of the resources of a type.
func (d *document) ofType(typ string) (ids []string) {
	for _, id := range keys(d.get("Resources")) {
		if text(d.get("Resources", id, "Type")) == typ {
			ids = append(ids, id)
		}
	}
	return ids
}

// keys gives the keys of a map in their order; none for what is no map.
func keys(n *yaml.Node) (names []string) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}

func get(n *yaml.Node, place ...string) *yaml.Node {
	for _, name := range place {
		at := slices.Index(keys(n), name)
		if at < 0 {
			return nil
		}
		n = n.Content[2*at+1]
	}
	return n
}

// items gives the elements of a list, or the one value that stands for a list of itself.
func items(n *yaml.Node) []*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	}
	return []*yaml.Node{n}
}

// text gives every scalar below a node, joined by dots: what an intrinsic function refers to, in words.
func text(n *yaml.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	var parts []string
	values := n.Content
	if n.Kind == yaml.MappingNode {
		values = nil
		for i := 1; i < len(n.Content); i += 2 {
			values = append(values, n.Content[i])
		}
	}
	for _, value := range values {
		parts = append(parts, text(value))
	}
	return strings.Join(parts, ".")
}
