package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// permission is one DynamoDB action on one table or index that a template grants to a function.
type permission struct {
	function string // logical id
	action   string // dynamodb:GetItem
	resource string // Users.Arn, ${Features.Arn}/index/staleness
	take     func() // takes it, and it alone, out of the document
}

func (p permission) String() string {
	return fmt.Sprintf("%s of %s on %s", p.action, p.function, strings.TrimSuffix(p.resource, ".Arn"))
}

// permissions gives everything that a template lets functions do in DynamoDB, in its order: by a function's own policies, or by those of
// the role that a function names.
func (d *document) permissions() (found []permission) {
	for _, function := range d.ofType("AWS::Serverless::Function") {
		holders := []string{function}
		if role := text(d.get("Resources", function, "Properties", "Role")); role != "" {
			holders = append(holders, strings.TrimSuffix(role, ".Arn"))
		}
		for _, holder := range holders {
			eachStatements(d.get("Resources", holder, "Properties"), func(statements *yaml.Node) {
				for _, statement := range statements.Content {
					found = append(found, granted(function, statements, statement)...)
				}
			})
		}
	}
	return found
}

// eachStatements visits each list of statements below a node.
func eachStatements(n *yaml.Node, visit func(statements *yaml.Node)) {
	if n == nil {
		return
	}
	if statements := get(n, "Statement"); statements != nil && statements.Kind == yaml.SequenceNode {
		visit(statements)
		return
	}
	for _, child := range n.Content {
		eachStatements(child, visit)
	}
}

// granted takes one statement apart.
func granted(function string, statements, statement *yaml.Node) (found []permission) {
	for i, action := range items(get(statement, "Action")) {
		if !strings.HasPrefix(action.Value, "dynamodb:") {
			continue
		}
		for j, resource := range items(get(statement, "Resource")) {
			found = append(found, permission{
				function: function, action: action.Value, resource: text(resource),
				take: func() { take(statements, statement, i, j) },
			})
		}
	}
	return found
}

// take replaces a statement by what is left of it without action i on resource j: the other actions on all its resources, and this action
// on the others.
func take(statements, statement *yaml.Node, i, j int) {
	actions, resources := items(get(statement, "Action")), items(get(statement, "Resource"))
	var rest []*yaml.Node
	for _, part := range []struct{ actions, resources []*yaml.Node }{
		{slices.Delete(slices.Clone(actions), i, i+1), resources},
		{actions[i : i+1], slices.Delete(slices.Clone(resources), j, j+1)},
	} {
		if len(part.actions) > 0 && len(part.resources) > 0 {
			rest = append(rest, allow(part.actions, part.resources))
		}
	}
	at := slices.Index(statements.Content, statement)
	statements.Content = slices.Replace(statements.Content, at, at+1, rest...)
}

func allow(actions, resources []*yaml.Node) *yaml.Node {
	name := func(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }
	list := func(of []*yaml.Node) *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Content: of} }
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		name("Effect"), name("Allow"), name("Action"), list(actions), name("Resource"), list(resources),
	}}
}

// TestPermissions: each is found once, and taking one takes nothing else.
func TestPermissions(t *testing.T) {
	t.Parallel()
	names := func(d *document) (all []string) {
		for _, p := range d.permissions() {
			all = append(all, p.String())
		}
		slices.Sort(all)
		return all
	}
	source := absolute("template.yaml")
	whole := names(readDocument(t, source))
	if len(whole) == 0 || len(slices.Compact(slices.Clone(whole))) != len(whole) {
		t.Fatalf("the template grants %q", whole)
	}
	for i := range whole {
		d := readDocument(t, source)
		p := d.permissions()[i]
		p.take()
		want := slices.DeleteFunc(slices.Clone(whole), func(name string) bool { return name == p.String() })
		if got := names(d); !slices.Equal(got, want) {
			t.Errorf("without %s, %q is granted", p, got)
		}
	}
}
