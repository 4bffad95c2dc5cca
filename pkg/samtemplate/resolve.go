package samtemplate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isFunction reports whether a value is an intrinsic function in its short form.
func isFunction(n *yaml.Node) bool {
	return strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!")
}

// merge merges the properties of a function over those of Globals, as SAM does: mappings by key. SAM also concatenates
// lists; none of those that are supported has a meaning on one machine.
func merge(global, own *yaml.Node) *yaml.Node {
	if own.Kind == 0 {
		return global
	}
	if global.Kind != yaml.MappingNode || own.Kind != yaml.MappingNode {
		return own
	}
	merged := *own
	merged.Content = nil
	for key, value := range pairs(own) {
		merged.Content = append(merged.Content, key, merge(get(global, key.Value), value))
	}
	for key, value := range pairs(global) {
		if get(own, key.Value).Kind == 0 {
			merged.Content = append(merged.Content, key, value)
		}
	}
	return &merged
}

// resolve returns a copy of a value with every intrinsic function replaced by its result, without properties whose
// result is AWS::NoValue.
func (r *reader) resolve(n *yaml.Node) *yaml.Node {
	if isFunction(n) {
		return r.call(n)
	}
	for key := range pairs(n) {
		if key.Value == "Ref" || strings.HasPrefix(key.Value, "Fn::") {
			r.fail(key, "the long form %s is not supported, use the short form", key.Value)
		}
		if key.Tag == "!!merge" {
			r.fail(key, "a YAML merge key supports only one mapping")
		}
	}
	resolved := *n
	resolved.Content = nil
	if n.Kind == yaml.MappingNode {
		for key, value := range pairs(n) {
			if value = r.resolve(value); value.Kind != 0 {
				resolved.Content = append(resolved.Content, key, value)
			}
		}
		return &resolved
	}
	for _, child := range n.Content {
		if child = r.resolve(child); child.Kind != 0 {
			resolved.Content = append(resolved.Content, child)
		}
	}
	return &resolved
}

func (r *reader) call(n *yaml.Node) *yaml.Node {
	switch {
	case n.Tag == "!Ref" && n.Value == "AWS::NoValue":
		return &yaml.Node{Line: n.Line}
	case n.Tag == "!Ref", n.Tag == "!GetAtt":
		return scalar(n, r.reference(n, n.Value))
	case n.Tag == "!Sub" && n.Kind == yaml.ScalarNode:
		return r.substitute(n, n.Value, new(yaml.Node))
	case n.Tag == "!Sub" && len(n.Content) == 2:
		return r.substitute(n, n.Content[0].Value, r.resolve(n.Content[1]))
	case n.Tag == "!If" && len(n.Content) == 3:
		if r.isTrue(n, n.Content[0].Value) {
			return r.resolve(n.Content[1])
		}
		return r.resolve(n.Content[2])
	case n.Tag == "!Join" && len(n.Content) == 2:
		var parts []string
		for _, part := range r.resolve(n.Content[1]).Content {
			parts = append(parts, part.Value)
		}
		return scalar(n, strings.Join(parts, n.Content[0].Value))
	case n.Tag == "!Split" && len(n.Content) == 2:
		list := &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line}
		for part := range strings.SplitSeq(r.resolve(n.Content[1]).Value, n.Content[0].Value) {
			list.Content = append(list.Content, scalar(n, part))
		}
		return list
	case n.Tag == "!Select" && len(n.Content) == 2:
		list := r.resolve(n.Content[1]).Content
		i, err := strconv.Atoi(n.Content[0].Value)
		if err != nil || i < 0 || i >= len(list) {
			r.fail(n, "Select: the list has no item %s", n.Content[0].Value)
			return n
		}
		return list[i]
	case n.Tag == "!FindInMap" && len(n.Content) == 3:
		found := get(r.document.root, "Mappings")
		for _, key := range n.Content {
			found = get(found, r.resolve(key).Value)
		}
		if found.Kind == 0 {
			r.fail(n, "FindInMap: the mapping has no such key")
		}
		return found
	}
	r.fail(n, "this use of %s is not supported by the local gateway", n.Tag)
	return n
}

// substitute replaces ${name} by the variable of this name, otherwise by the reference to it.
func (r *reader) substitute(n *yaml.Node, text string, variables *yaml.Node) *yaml.Node {
	return scalar(n, substitution.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "${}")
		if variable := get(variables, name); variable.Kind != 0 {
			return variable.Value
		}
		return r.reference(n, name)
	}))
}

var substitution = regexp.MustCompile(`\$\{[^}]*\}`)

// scalar makes the result of a function. CloudFormation accepts the text "true" as a boolean and "60" as a number.
func scalar(at *yaml.Node, value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: at.Line}
	if number, _ := strconv.Atoi(value); value == strconv.Itoa(number) || value == "true" || value == "false" {
		n.Tag = "" // the type that the text looks like
	}
	return n
}

// reference returns the value of a parameter, the id of a resource, or the attribute "LogicalId.Attribute".
func (r *reader) reference(at *yaml.Node, name string) string {
	if value, ok := r.parameters[name]; ok {
		return value
	}
	id, attribute, dotted := strings.Cut(name, ".")
	found := r.resources[id]
	if found == nil { // the URL of a function, which SAM creates
		found = r.resources[strings.TrimSuffix(id, "Url")]
		attribute = "Url " + attribute
	}
	switch {
	case found == nil:
		r.fail(at, "there is no parameter or resource %q", id)
	case !r.isTrue(at, found.condition):
		r.fail(at, "the resource %s is not created: its condition %s is false", id, found.condition)
	case found.typ == typeApplication:
		return r.output(at, found, attribute)
	case dotted && r.attribute(found, attribute) == "":
		r.fail(at, "the attribute %s of %s (%s) is not supported by the local gateway", attribute, id, found.typ)
	case dotted:
		return r.attribute(found, attribute)
	}
	return id
}

func (r *reader) attribute(found *resource, name string) string {
	text := strings.ReplaceAll(attributes[found.typ+" "+name], "REGION", r.parameters["AWS::Region"])
	text = strings.ReplaceAll(text, "ACCOUNT", r.parameters["AWS::AccountId"])
	return strings.ReplaceAll(text, "ID", found.id)
}

// owner returns the logical id of the resource that has one of these attributes with this value. It can be a resource
// of a template that nests this one.
func (r *reader) owner(at *yaml.Node, typ, value string, names ...string) string {
	for of := r; of != nil; of = of.parent {
		for id, found := range of.resources {
			for _, name := range names {
				// Attributes that identify a resource contain its id.
				if found.typ == typ && strings.Contains(value, id) && r.attribute(found, name) == value {
					return id
				}
			}
		}
	}
	r.fail(at, "%q is not an %s of this template", value, typ)
	return ""
}

// isTrue evaluates a condition by its name. No name is true.
func (r *reader) isTrue(at *yaml.Node, name string) bool {
	condition := get(get(r.document.root, "Conditions"), name)
	if name != "" && condition.Kind == 0 {
		r.fail(at, "there is no condition %q", name)
	}
	return condition.Kind == 0 || r.holds(condition)
}

// holds evaluates Equals, Contains, Not, And and Condition.
func (r *reader) holds(n *yaml.Node) bool {
	switch {
	case n.Tag == "!Equals" && len(n.Content) == 2:
		return r.resolve(n.Content[0]).Value == r.resolve(n.Content[1]).Value
	case n.Tag == "!Contains" && len(n.Content) == 2:
		value := r.resolve(n.Content[1]).Value
		return slices.ContainsFunc(n.Content[0].Content, func(item *yaml.Node) bool { return item.Value == value })
	case n.Tag == "!Not" && len(n.Content) == 1:
		return !r.holds(n.Content[0])
	case n.Tag == "!And":
		return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !r.holds(c) })
	case n.Tag == "!Condition":
		return r.isTrue(n, n.Value)
	}
	r.fail(n, "a condition supports only !Equals, !Contains, !Not, !And and !Condition")
	return false
}
