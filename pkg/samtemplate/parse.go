package samtemplate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds the nesting of a template, far above any real one.
const maxDepth = 200

// parse turns YAML into nodes: tags in their long form (`!Sub x` is {Fn::Sub: x}), no aliases, no key twice.
func parse(content []byte) (*node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &placed{line: 1, text: "is empty"}
		}
		return nil, syntax(err)
	}
	root, err := convert(document.Content[0], "", document.Content[0].Line, 0)
	if err != nil {
		return nil, err
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &placed{line: max(more.Line, 1), text: "holds more than one YAML document"}
	}
	return root, nil
}

// syntax moves the line of a YAML error to its front.
func syntax(err error) error {
	text := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: ")
	if found := regexp.MustCompile(`^line (\d+): (.*)$`).FindStringSubmatch(text); found != nil {
		line, _ := strconv.Atoi(found[1]) // digits only; one too long for an int is no line
		return &placed{line: line, text: "is not YAML: " + found[2]}
	}
	return &placed{line: 1, text: "is not YAML: " + text}
}

func convert(y *yaml.Node, path string, line, depth int) (*node, error) {
	n := &node{line: line, path: path}
	if depth > maxDepth {
		return nil, n.errorf("is nested too deep")
	}
	if y.Kind == yaml.AliasNode || y.Anchor != "" {
		return nil, n.errorf("YAML anchors and aliases are not supported: CloudFormation has none")
	}
	if name, ok := strings.CutPrefix(y.Tag, "!"); ok && !strings.HasPrefix(y.Tag, "!!") {
		return convertTag(y, n, name, depth)
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.kind, n.text, n.tag = scalar, y.Value, y.ShortTag()
		switch n.tag {
		case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		default:
			return nil, n.errorf("the YAML type %s is not known", n.tag)
		}
	case yaml.SequenceNode:
		n.kind = list
		for i, item := range y.Content {
			converted, err := convert(item, path+"["+strconv.Itoa(i)+"]", item.Line, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, converted)
		}
	case yaml.MappingNode:
		return n, convertMap(y, n, depth)
	case yaml.DocumentNode, yaml.AliasNode:
		return nil, n.errorf("is no value")
	}
	return n, nil
}

func convertMap(y *yaml.Node, n *node, depth int) error {
	n.kind, n.fields = dict, make(map[string]*node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		here := &node{line: key.Line, path: n.path}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return here.errorf("a key must be plain text")
		}
		if _, twice := n.fields[key.Value]; twice {
			return here.errorf("the key %q stands there twice", key.Value)
		}
		value, err := convert(y.Content[i+1], join(n.path, key.Value), key.Line, depth+1)
		if err != nil {
			return err
		}
		n.keys = append(n.keys, key.Value)
		n.fields[key.Value] = value
	}
	return markFunction(n)
}

// markFunction tells an intrinsic function from a map and refuses what is neither.
func markFunction(n *node) error {
	for _, key := range n.keys {
		if key != "Ref" && !strings.HasPrefix(key, "Fn::") {
			continue
		}
		if key != "Ref" && !known(key) {
			return n.fields[key].errorf("the function %s is not known", key)
		}
		if len(n.keys) > 1 {
			return n.fields[key].errorf("%s has other keys beside it", key)
		}
		n.fn = true
	}
	return nil
}

// convertTag makes the long form of a tag. !GetAtt a.b becomes [a, b]; !Condition keeps its short name.
func convertTag(y *yaml.Node, n *node, name string, depth int) (*node, error) {
	long := "Fn::" + name
	if name == "Ref" || name == "Condition" {
		long = name
	}
	if !known(long) {
		return nil, n.errorf("the function !%s is not known", name)
	}
	plain := *y
	plain.Tag, plain.Style = "", y.Style&^yaml.TaggedStyle
	if y.Kind == yaml.ScalarNode {
		plain.Tag = "!!str"
	}
	argument, err := convert(&plain, n.path, n.line, depth+1)
	if err != nil {
		return nil, err
	}
	n.kind, n.keys, n.fields, n.fn = dict, []string{long}, map[string]*node{long: argument}, true
	return n, nil
}

// known says which functions the resolver has.
func known(name string) bool {
	switch name {
	case "Ref", "Condition", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::Select", "Fn::Split", "Fn::FindInMap", "Fn::If",
		"Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or":
		return true
	}
	return false
}

var _ error = (*placed)(nil)

// prefix puts the file before an error's line.
func prefix(file string, err error) error {
	if _, ok := errors.AsType[*placed](err); ok {
		return fmt.Errorf("%s:%w", file, err)
	}
	return fmt.Errorf("%s: %w", file, err)
}
