package samtemplate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

type kind int

const (
	scalar kind = iota
	list
	dict
	absent // what Ref AWS::NoValue gives: the property or list item is not there
)

// node is a value of the template that knows where it stands. Nodes are never changed once parsed: merging and resolving make new ones.
type node struct {
	kind   kind
	line   int    // of the key for a value in a map
	path   string // Resources.Api.Properties.StageName
	text   string // scalar
	tag    string // scalar: !!str, !!int, !!float, !!bool, !!null
	items  []*node
	keys   []string // dict: in the order of the template
	fields map[string]*node
	fn     bool // dict: one intrinsic function, {name: argument}
}

// placed is an error with its place in the template. Load puts the file before it.
type placed struct {
	line int
	path string
	text string
}

func (e *placed) Error() string {
	where := e.path
	if where == "" {
		where = "the template"
	}
	return fmt.Sprintf("%d: %s: %s", e.line, where, e.text)
}

func (n *node) errorf(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &placed{line: n.line, path: n.path, text: strings.ReplaceAll(text, "\n", " ")}
}

// function gives name and argument of an intrinsic function.
func (n *node) function() (name string, argument *node, ok bool) {
	if n.kind != dict || !n.fn {
		return "", nil, false
	}
	return n.keys[0], n.fields[n.keys[0]], true
}

// like makes a scalar string that stands where n stands.
func (n *node) like(text string) *node {
	return &node{kind: scalar, line: n.line, path: n.path, text: text, tag: "!!str"}
}

// what describes a value in an error.
func (n *node) what() string {
	switch {
	case n.fn:
		return n.keys[0]
	case n.kind == list:
		return "a list"
	case n.kind == dict:
		return "a map"
	case n.tag == "!!null", n.kind == absent:
		return "nothing"
	}
	return strconv.Quote(n.text)
}

// value gives the node as plain Go values.
func (n *node) value() any {
	switch n.kind {
	case list:
		items := make([]any, 0, len(n.items))
		for _, item := range n.items {
			items = append(items, item.value())
		}
		return items
	case dict:
		fields := make(map[string]any, len(n.keys))
		for _, key := range n.keys {
			fields[key] = n.fields[key].value()
		}
		return fields
	case scalar, absent:
	}
	switch n.tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.text, "true")
	case "!!int":
		if i, err := strconv.Atoi(n.text); err == nil {
			return i
		}
	case "!!float":
		if f, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
	}
	return n.text
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
