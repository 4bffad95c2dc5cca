package samtemplate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Settings are the values that CloudFormation supplies at a deployment.
type Settings struct {
	// Parameters overrides defaults of the template's parameters. A name that the template does not declare is an error.
	Parameters map[string]string
	Region     string // AWS::Region; default us-east-1
	AccountID  string // AWS::AccountId; default 000000000000
	StackName  string // AWS::StackName; default local
}

// resource is one resource whose properties are not resolved yet.
type resource struct {
	id, typ, condition string
	at                 *yaml.Node // its key
	body, properties   *yaml.Node
}

// Load reads the template at path as CloudFormation would deploy it with these settings.
func Load(path string, s Settings) (*Template, error) {
	document, err := Parse(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return document.Resolve(s)
}

// Document is a template, with those that it nests, whose conditions and functions are not resolved yet. It is read-only
// and safe for concurrent use.
type Document struct {
	file         string // its name in errors
	root         *yaml.Node
	applications map[string]*Document // nested templates by logical id
}

// Parse reads a template and those that it nests, whose locations are relative to its folder.
func Parse(files fs.FS, name string) (*Document, error) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	var document yaml.Node
	err = yaml.Unmarshal(content, &document)
	if err == nil {
		err = document.Decode(new(any)) // finds duplicate keys
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.ReplaceAll(err.Error(), "\n ", ""))
	}
	if len(document.Content) == 0 {
		return nil, fmt.Errorf("%s: the template is empty", name)
	}
	expand(&document)
	d := &Document{name, document.Content[0], map[string]*Document{}}
	for id, body := range pairs(get(d.root, "Resources")) {
		if text(body, "Type") != typeApplication {
			continue
		}
		nested, err := Parse(files, path.Join(path.Dir(name), text(get(body, "Properties"), "Location")))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %v", name, id.Line, id.Value, err) //nolint:errorlint // of another file
		}
		d.applications[id.Value] = nested
	}
	return d, nil
}

// Resolve returns the template as CloudFormation would deploy it with these settings.
func (d *Document) Resolve(s Settings) (*Template, error) {
	r := newReader(d, map[string]string{
		"AWS::Region":    cmp.Or(s.Region, "us-east-1"),
		"AWS::AccountId": cmp.Or(s.AccountID, "000000000000"),
		"AWS::StackName": cmp.Or(s.StackName, "local"),
		"AWS::Partition": "aws",
		"AWS::URLSuffix": "amazonaws.com",
	})
	t := r.read(s.Parameters)
	if r.err == nil && t.API.LogicalID == "" {
		r.within = "Resources"
		r.fail(r.document.root, "there is no %s", typeAPI)
	}
	if r.err != nil {
		return nil, r.err
	}
	return t, nil
}

// expand replaces each alias with the value that it refers to, and each merge key with the properties that the mapping
// does not have itself, as the SAM CLI does. An anchor precedes its aliases, so the value of an alias is already expanded.
func expand(n *yaml.Node) {
	for i, child := range n.Content {
		if child.Kind == yaml.AliasNode {
			n.Content[i] = child.Alias
		} else {
			expand(child)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		if merged := n.Content[i+1]; n.Content[i].Tag == "!!merge" && merged.Kind == yaml.MappingNode {
			n.Content = slices.Delete(n.Content, i, i+2)
			i -= 2
			for key, value := range pairs(merged) {
				if get(n, key.Value).Kind == 0 {
					n.Content = append(n.Content, key, value)
				}
			}
		}
	}
}

func (r *reader) read(parameters map[string]string) *Template {
	r.readParameters(parameters)
	r.checkRules()
	if r.err != nil {
		return nil
	}
	t := &Template{Outputs: map[string]string{}}
	for _, found := range r.readResources() {
		if r.isTrue(found.at, found.condition) {
			r.add(t, found)
		}
	}
	for name, output := range pairs(get(r.document.root, "Outputs")) {
		r.within = name.Value
		if r.isTrue(name, text(output, "Condition")) {
			t.Outputs[name.Value] = r.resolve(get(output, "Value")).Value
		}
	}
	return t
}

// checkRules reports the first assertion that the parameters do not satisfy.
func (r *reader) checkRules() {
	for name, rule := range pairs(get(r.document.root, "Rules")) {
		r.within = name.Value
		if condition := get(rule, "RuleCondition"); condition.Kind != 0 && !r.holds(condition) {
			continue
		}
		for _, assertion := range get(rule, "Assertions").Content {
			if !r.holds(get(assertion, "Assert")) {
				r.fail(assertion, "%s", text(assertion, "AssertDescription"))
			}
		}
	}
}

// readResources reads all resources before any is resolved, because they refer to one another.
func (r *reader) readResources() (order []*resource) {
	for key, body := range pairs(get(r.document.root, "Resources")) {
		found := &resource{
			id: key.Value, typ: text(body, "Type"), condition: text(body, "Condition"), at: key, body: body,
			properties: get(body, "Properties"),
		}
		if found.typ == typeFunction {
			found.properties = merge(get(get(r.document.root, "Globals"), "Function"), found.properties)
		}
		r.resources[found.id] = found
		order = append(order, found)
	}
	return order
}

// add resolves a resource and adds it to the template.
func (r *reader) add(t *Template, found *resource) {
	r.within = found.id
	properties := r.resolve(found.properties)
	exported := Resource{
		LogicalID: found.id, Type: found.typ, DeletionPolicy: text(found.body, "DeletionPolicy"),
		UpdateReplacePolicy: text(found.body, "UpdateReplacePolicy"),
	}
	r.decode(get(found.body, "Metadata"), &exported.Metadata)
	if err := properties.Decode(&exported.Properties); err != nil && properties.Kind != 0 {
		r.fail(found.at, "Properties must be a mapping")
	}
	t.Resources = append(t.Resources, exported)
	switch found.typ {
	case typeAPI:
		if t.API.LogicalID != "" {
			r.fail(found.at, "a second API is not supported by the local gateway")
		}
		r.addAPI(t, found, properties, exported.Properties)
	case typeFunction:
		r.addFunction(t, found, properties, exported.Properties)
	case typeTable:
		r.addTable(t, found, properties, exported.Properties)
	case typeQueue:
		r.addQueue(t, found, properties, exported.Properties)
	case typeRule:
		r.addRule(t, found, properties, exported.Properties)
	case typeApplication:
		r.addApplication(t, found)
	default:
		if !slices.ContainsFunc(ignoredTypes, func(prefix string) bool { return strings.HasPrefix(found.typ, prefix) }) {
			r.fail(found.at, "the resource type %q is not supported by the local gateway", found.typ)
		}
	}
}
