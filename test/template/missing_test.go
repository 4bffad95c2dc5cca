package template_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

// TestWhatIsMissingIsNamed takes things out of the real template, one at a time: each permission, alarm, retention, on-failure destination,
// gateway response and what keeps the tables. Each time something must be said that names it.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(root + "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	metrics := metricsOfCode(t)
	byKind := map[string][]removal{}
	for _, r := range removals(parseYAML(t, content)) {
		byKind[r.kind] = append(byKind[r.kind], r)
	}
	// least is a lower bound of what the template has: that it was found at all.
	for kind, least := range map[string]int{
		"permission": 80, "alarm": 39, "retention": 13, "on-failure destination": 3, "gateway response": 20, "table's property": 34,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if len(byKind[kind]) < least {
				t.Errorf("only %d were found, want %d", len(byKind[kind]), least)
			}
			document := parseYAML(t, content)
			for _, r := range byKind[kind] {
				var said []string
				if read, err := samtemplate.Parse("template.yaml", without(t, document, r), everything()); err != nil {
					said = []string{err.Error()}
				} else {
					said = template.Problems(read, metrics)
				}
				if !slices.ContainsFunc(said, r.named) {
					t.Errorf("line %d taken out: want a line with %q, got %q", r.line, r.names, said)
				}
			}
			t.Logf("%d taken out", len(byKind[kind]))
		})
	}
}

func parseYAML(t *testing.T, content []byte) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return &document
}

// removal is a thing that is taken out, by the way to it, and what must be named when it is missing.
type removal struct {
	kind  string
	path  []int // indexes into Content, from the document down, of the key or list item
	line  int
	names []string
}

// named says whether a line names what was taken out.
func (r *removal) named(line string) bool {
	return !slices.ContainsFunc(r.names, func(name string) bool { return !strings.Contains(line, name) })
}

// removals finds all that is to be taken out.
func removals(document *yaml.Node) []removal {
	var found []removal
	resources, at := field(document.Content[0], "Resources")
	for i := 0; i+1 < len(resources.Content); i += 2 {
		id, typ := resources.Content[i], ""
		if value, _ := field(resources.Content[i+1], "Type"); value != nil {
			typ = value.Value
		}
		if typ == "AWS::CloudWatch::Alarm" {
			found = append(found, removal{"alarm", []int{0, at, i}, id.Line, []string{id.Value}})
		}
		visit(resources.Content[i+1], []int{0, at, i + 1}, nil, func(p place) {
			if kind, names := removable(id.Value, typ, p); kind != "" {
				found = append(found, removal{kind, slices.Clone(p.path), p.value.Line, names})
			}
		})
	}
	return found
}

// place is a key with its value, or a list item (key is nil), and the keys above it.
type place struct {
	keys       []string
	path       []int // of the key or the item
	key, value *yaml.Node
	siblings   int // items of the list
}

// removable says whether that is to be taken out of a resource, and what must be named then.
func removable(id, typ string, p place) (kind string, names []string) {
	last := ""
	if len(p.keys) > 0 {
		last = p.keys[len(p.keys)-1]
	}
	if p.key == nil {
		switch {
		case last == "Statement" && slices.Contains(p.keys, "AssumeRolePolicyDocument"):
			return "permission", []string{id}
		case last == "Statement":
			return "permission", []string{owner(id)}
		case last == "Action" && p.siblings > 1:
			return "permission", []string{owner(id), p.value.Value}
		}
		return "", nil
	}
	switch {
	case p.key.Value == "ManagedPolicyArns":
		return "permission", []string{id}
	case p.key.Value == "RetentionInDays":
		return "retention", []string{id}
	case p.key.Value == "DestinationConfig":
		return "on-failure destination", []string{hyphenated(strings.TrimSuffix(id, "Function"))}
	case last == "GatewayResponses":
		return "gateway response", []string{p.key.Value}
	case typ == "AWS::DynamoDB::Table" && slices.Contains([]string{
		"DeletionPolicy", "UpdateReplacePolicy", "PointInTimeRecoverySpecification", "SSESpecification", "TimeToLiveSpecification",
		"StreamSpecification",
	}, p.key.Value):
		return "table's property", []string{id}
	}
	return "", nil
}

// owner is who has a role's permissions: the role's function, by its folder, or the resource itself.
func owner(id string) string {
	if name, ok := strings.CutSuffix(id, "Role"); ok && name != "Schedule" && name != "GatewayAccount" {
		return hyphenated(name)
	}
	if id == "TracingPolicy" {
		return "xray:" // of every function
	}
	return id
}

// hyphenated gives a function's folder: UpdateFeedback → update-feedback.
func hyphenated(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out.WriteByte('-')
		}
		out.WriteRune(r)
	}
	return strings.ToLower(out.String())
}

// field gives a key's value in a map and the index of the value.
func field(n *yaml.Node, name string) (*yaml.Node, int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1], i + 1
		}
	}
	return nil, 0
}

// visit visits every key and every list item below a node.
func visit(n *yaml.Node, path []int, keys []string, each func(place)) {
	below := func(i int) []int { return append(slices.Clone(path), i) }
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			each(place{keys, below(i), n.Content[i], n.Content[i+1], 0})
			visit(n.Content[i+1], below(i+1), append(slices.Clone(keys), n.Content[i].Value), each)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			each(place{keys, below(i), nil, item, len(n.Content)})
			visit(item, below(i), keys, each)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}

// without gives the template without what is taken out; the document stays as it is.
func without(t *testing.T, document *yaml.Node, r removal) []byte {
	t.Helper()
	parent := document
	for _, i := range r.path[:len(r.path)-1] {
		parent = parent.Content[i]
	}
	i, width := r.path[len(r.path)-1], 1
	if parent.Kind == yaml.MappingNode {
		width = 2
	}
	whole := parent.Content
	defer func() { parent.Content = whole }()
	parent.Content = slices.Delete(slices.Clone(whole), i, i+width)
	content, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
