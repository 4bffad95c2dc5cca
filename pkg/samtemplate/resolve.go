package samtemplate

import (
	"strconv"
	"strings"
)

// resolver replaces intrinsic functions by their values.
type resolver struct {
	settings   Settings
	parameters map[string]*node // a scalar, or a list for CommaDelimitedList
	mappings   *node            // nil: no mappings
	conditions *conditions
	resources  map[string]*resource
	order      []*resource // the same, in the order of the template
}

// resolve gives the value of a node without any function in it. A node of kind absent stands for AWS::NoValue.
func (r *resolver) resolve(n *node) (*node, error) {
	if name, argument, ok := n.function(); ok {
		return r.call(n, name, argument)
	}
	switch n.kind {
	case list:
		resolved := *n
		resolved.items = nil
		for _, item := range n.items {
			value, err := r.resolve(item)
			if err != nil {
				return nil, err
			}
			if value.kind != absent {
				resolved.items = append(resolved.items, value)
			}
		}
		return &resolved, nil
	case dict:
		resolved := *n
		resolved.keys, resolved.fields = nil, make(map[string]*node, len(n.keys))
		for _, key := range n.keys {
			value, err := r.resolve(n.fields[key])
			if err != nil {
				return nil, err
			}
			if value.kind != absent {
				resolved.keys = append(resolved.keys, key)
				resolved.fields[key] = value
			}
		}
		return &resolved, nil
	case scalar, absent:
	}
	return n, nil
}

func (r *resolver) call(n *node, name string, argument *node) (*node, error) {
	switch name {
	case "Ref":
		return r.ref(n, argument)
	case "Fn::GetAtt":
		return r.getAtt(n, argument)
	case "Fn::Sub":
		return r.sub(n, argument)
	case "Fn::Join":
		return r.join(n, argument)
	case "Fn::Select":
		return r.selectItem(n, argument)
	case "Fn::Split":
		return r.split(n, argument)
	case "Fn::FindInMap":
		return r.findInMap(n, argument)
	case "Fn::If":
		return r.choose(n, argument)
	}
	return nil, n.errorf("%s is only allowed in conditions", name)
}

func (r *resolver) ref(n, argument *node) (*node, error) {
	if argument.kind != scalar {
		return nil, n.errorf("Ref wants a name, not %s", argument.what())
	}
	if argument.text == "AWS::NoValue" {
		return &node{kind: absent, line: n.line, path: n.path}, nil
	}
	return r.named(n, argument.text)
}

// named gives what a Ref to a name gives.
func (r *resolver) named(n *node, name string) (*node, error) {
	if value, ok := r.settings.pseudo(name); ok {
		return n.like(value), nil
	}
	if value, ok := r.parameters[name]; ok {
		moved := *value
		moved.line, moved.path = n.line, n.path
		return &moved, nil
	}
	if id, part, dotted := strings.Cut(name, "."); dotted {
		return r.part(n, id, part)
	}
	found, err := r.resource(n, name)
	if err != nil {
		return nil, err
	}
	return n.like(found.id), nil
}

// part gives what a Ref to a part that SAM makes of a resource gives.
func (r *resolver) part(n *node, id, name string) (*node, error) {
	found, err := r.resource(n, id)
	if err != nil {
		return nil, err
	}
	value, ok := found.part(r.settings, name)
	if !ok {
		return nil, n.errorf("the part %s of %s (%s) is not known", name, id, found.typ)
	}
	if value, err = r.resolve(value); err != nil {
		return nil, err
	}
	return n.like(value.text), nil
}

// resource gives a resource that is made: one whose condition is false cannot be referred to.
func (r *resolver) resource(n *node, name string) (*resource, error) {
	found, ok := r.resources[name]
	if !ok {
		return nil, n.errorf("%q is no parameter and no resource", name)
	}
	made, err := r.made(found)
	if err != nil {
		return nil, err
	}
	if !made {
		return nil, n.errorf("the resource %s is not made: its condition %s is false", name, found.condition.text)
	}
	return found, nil
}

func (r *resolver) made(found *resource) (bool, error) {
	if found.condition == nil {
		return true, nil
	}
	return r.conditions.holds(r, found.condition, found.condition.text)
}

func (r *resolver) getAtt(n, argument *node) (*node, error) {
	id, attribute := "", ""
	switch {
	case argument.kind == scalar:
		id, attribute, _ = strings.Cut(argument.text, ".")
	case argument.kind == list && len(argument.items) == 2 && argument.items[0].kind == scalar && argument.items[1].kind == scalar:
		id, attribute = argument.items[0].text, argument.items[1].text
	}
	if id == "" || attribute == "" {
		return nil, n.errorf("Fn::GetAtt wants a resource and an attribute")
	}
	return r.attribute(n, id, attribute)
}

func (r *resolver) attribute(n *node, id, attribute string) (*node, error) {
	found, err := r.resource(n, id)
	if err != nil {
		return nil, err
	}
	value, ok := found.attribute(r.settings, attribute)
	if !ok {
		return nil, n.errorf("the attribute %s of %s (%s) is not known", attribute, id, found.typ)
	}
	return n.like(value), nil
}

func (r *resolver) sub(n, argument *node) (*node, error) {
	text, names := argument, map[string]string{}
	if argument.kind == list && len(argument.items) == 2 && argument.items[1].kind == dict && !argument.items[1].fn {
		text = argument.items[0]
		for _, key := range argument.items[1].keys {
			value, err := r.text(argument.items[1].fields[key], "Fn::Sub")
			if err != nil {
				return nil, err
			}
			names[key] = value
		}
	}
	if text.kind != scalar {
		return nil, n.errorf("Fn::Sub wants a text, or a list of a text and a map")
	}
	var out strings.Builder
	rest := text.text
	for {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return n.like(out.String()), nil
		}
		name, next, closed := strings.Cut(after, "}")
		if !closed {
			return nil, n.errorf("Fn::Sub has ${ without }")
		}
		value, err := r.variable(n, name, names)
		if err != nil {
			return nil, err
		}
		out.WriteString(value)
		rest = next
	}
}

// variable gives what stands for ${name} in a Sub.
func (r *resolver) variable(n *node, name string, names map[string]string) (string, error) {
	if literal, ok := strings.CutPrefix(name, "!"); ok {
		return "${" + literal + "}", nil
	}
	if value, ok := names[name]; ok {
		return value, nil
	}
	var value *node
	var err error
	if id, attribute, dotted := strings.Cut(name, "."); dotted {
		value, err = r.attribute(n, id, attribute)
	} else {
		value, err = r.named(n, name)
	}
	if err != nil {
		return "", err
	}
	if value.kind != scalar {
		return "", n.errorf("Fn::Sub: %s is %s", name, value.what())
	}
	return value.text, nil
}

func (r *resolver) join(n, argument *node) (*node, error) {
	if argument.kind != list || len(argument.items) != 2 {
		return nil, n.errorf("Fn::Join wants a separator and a list")
	}
	separator, err := r.text(argument.items[0], "Fn::Join")
	if err != nil {
		return nil, err
	}
	texts, err := r.texts(argument.items[1], "Fn::Join")
	if err != nil {
		return nil, err
	}
	return n.like(strings.Join(texts, separator)), nil
}

func (r *resolver) split(n, argument *node) (*node, error) {
	if argument.kind != list || len(argument.items) != 2 {
		return nil, n.errorf("Fn::Split wants a separator and a text")
	}
	separator, err := r.text(argument.items[0], "Fn::Split")
	if err != nil {
		return nil, err
	}
	text, err := r.text(argument.items[1], "Fn::Split")
	if err != nil {
		return nil, err
	}
	if separator == "" {
		return nil, n.errorf("Fn::Split wants a separator that is not empty")
	}
	parts := &node{kind: list, line: n.line, path: n.path}
	for part := range strings.SplitSeq(text, separator) {
		parts.items = append(parts.items, n.like(part))
	}
	return parts, nil
}

func (r *resolver) selectItem(n, argument *node) (*node, error) {
	if argument.kind != list || len(argument.items) != 2 {
		return nil, n.errorf("Fn::Select wants an index and a list")
	}
	index, err := r.text(argument.items[0], "Fn::Select")
	if err != nil {
		return nil, err
	}
	items, err := r.resolve(argument.items[1])
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(index)
	if err != nil || items.kind != list || i < 0 || i >= len(items.items) {
		return nil, n.errorf("Fn::Select: there is no item %q", index)
	}
	return items.items[i], nil
}

func (r *resolver) findInMap(n, argument *node) (*node, error) {
	keys, err := r.texts(argument, "Fn::FindInMap")
	if err != nil {
		return nil, err
	}
	if len(keys) != 3 {
		return nil, n.errorf("Fn::FindInMap wants three names")
	}
	found := r.mappings
	for _, key := range keys {
		if found == nil || found.kind != dict || found.fields[key] == nil {
			return nil, n.errorf("Fn::FindInMap: there is no %s", strings.Join(keys, "."))
		}
		found = found.fields[key]
	}
	return r.resolve(found)
}

func (r *resolver) choose(n, argument *node) (*node, error) {
	if argument.kind != list || len(argument.items) != 3 || argument.items[0].kind != scalar {
		return nil, n.errorf("Fn::If wants a condition and two values")
	}
	holds, err := r.conditions.holds(r, n, argument.items[0].text)
	if err != nil {
		return nil, err
	}
	if holds {
		return r.resolve(argument.items[1])
	}
	return r.resolve(argument.items[2])
}

// text resolves what must be one scalar.
func (r *resolver) text(n *node, function string) (string, error) {
	value, err := r.resolve(n)
	if err != nil {
		return "", err
	}
	if value.kind != scalar {
		return "", n.errorf("%s wants a text, not %s", function, value.what())
	}
	return value.text, nil
}

// texts resolves what must be a list of scalars.
func (r *resolver) texts(n *node, function string) ([]string, error) {
	value, err := r.resolve(n)
	if err != nil {
		return nil, err
	}
	if value.kind != list {
		return nil, n.errorf("%s wants a list, not %s", function, value.what())
	}
	var texts []string
	for _, item := range value.items {
		if item.kind != scalar {
			return nil, item.errorf("%s wants a text, not %s", function, item.what())
		}
		texts = append(texts, item.text)
	}
	return texts, nil
}
