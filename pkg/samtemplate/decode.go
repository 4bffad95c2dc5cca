package samtemplate

import (
	"strconv"
	"strings"
)

// decoder takes resolved nodes apart and keeps the first error, so that the code which reads a resource looks like the resource.
type decoder struct {
	err error
}

func (d *decoder) fail(n *node, format string, args ...any) {
	if d.err == nil {
		d.err = n.errorf(format, args...)
	}
}

// object is a map of which every key must be asked for: done refuses the others.
type object struct {
	d    *decoder
	n    *node
	used map[string]bool
}

func (d *decoder) object(n *node) *object {
	if n.kind != dict {
		d.fail(n, "must be a map, not %s", n.what())
		n = &node{kind: dict, line: n.line, path: n.path}
	}
	return &object{d: d, n: n, used: map[string]bool{}}
}

// get gives a value, or nil where there is none.
func (o *object) get(key string) *node {
	o.used[key] = true
	return o.n.fields[key]
}

func (o *object) need(key string) *node {
	if value := o.get(key); value != nil {
		return value
	}
	o.d.fail(o.n, "%s is missing", key)
	return &node{kind: dict, line: o.n.line, path: join(o.n.path, key)}
}

// child gives a map that may be missing: then an empty one.
func (o *object) child(key string) *object {
	if value := o.get(key); value != nil {
		return o.d.object(value)
	}
	return o.d.object(&node{kind: dict, line: o.n.line, path: join(o.n.path, key)})
}

func (o *object) optionalText(key string) (string, bool) {
	value := o.get(key)
	if value == nil {
		return "", false
	}
	return o.d.text(value), true
}

// text gives a text that may be missing: then the empty one.
func (o *object) text(key string) string {
	value, _ := o.optionalText(key)
	return value
}

func (o *object) needText(key string) string {
	value, ok := o.optionalText(key)
	if !ok || value == "" {
		o.d.fail(o.n, "%s is missing", key)
	}
	return value
}

// must wants one certain value: another one has a meaning that nothing here plays.
func (o *object) must(key, want string) {
	if value, ok := o.optionalText(key); !ok {
		o.d.fail(o.n, "%s is missing: only %s is known", key, want)
	} else if value != want {
		o.d.fail(o.n.fields[key], "%q is not known: only %s", value, want)
	}
}

func (o *object) integer(key string, missing, least, most int) int {
	text, ok := o.optionalText(key)
	if !ok {
		return missing
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < least || value > most {
		o.d.fail(o.n.fields[key], "%q is no integer from %d to %d", text, least, most)
		return missing
	}
	return value
}

func (o *object) boolean(key string, missing bool) bool {
	text, ok := o.optionalText(key)
	if !ok {
		return missing
	}
	if text != "true" && text != "false" {
		o.d.fail(o.n.fields[key], "%q is neither true nor false", text)
	}
	return text == "true"
}

func (o *object) list(key string) []*node {
	value := o.get(key)
	if value == nil {
		return nil
	}
	if value.kind != list {
		o.d.fail(value, "must be a list, not %s", value.what())
		return nil
	}
	return value.items
}

// texts reads a list of texts; one text alone counts as a list of one.
func (o *object) texts(key string) []string {
	value := o.get(key)
	switch {
	case value == nil:
		return nil
	case value.kind == scalar:
		return []string{o.d.text(value)}
	}
	var texts []string
	for _, item := range o.list(key) {
		texts = append(texts, o.d.text(item))
	}
	return texts
}

// textMap reads a map of texts.
func (o *object) textMap(key string) map[string]string {
	child := o.child(key)
	texts := make(map[string]string, len(child.n.keys))
	for _, name := range child.n.keys {
		texts[name] = o.d.text(child.n.fields[name])
	}
	return texts
}

// notPlayed names properties that are known and mean nothing on one machine.
func (o *object) notPlayed(keys ...string) {
	for _, key := range keys {
		o.used[key] = true
	}
}

// done refuses what nobody asked for.
func (o *object) done() {
	for _, key := range o.n.keys {
		if !o.used[key] {
			o.d.fail(o.n.fields[key], "%s is not known", key)
		}
	}
}

// text reads a scalar. CloudFormation takes numbers and booleans for texts.
func (d *decoder) text(n *node) string {
	if n.kind != scalar || n.tag == "!!null" {
		d.fail(n, "must be a text, not %s", n.what())
		return ""
	}
	if n.tag == "!!bool" {
		return strings.ToLower(n.text)
	}
	return n.text
}

// constant refuses functions at any depth: mappings have none, so that looking something up always ends.
func (d *decoder) constant(n *node) {
	if n.fn {
		d.fail(n, "%s is not allowed here", n.what())
	}
	for _, item := range n.items {
		d.constant(item)
	}
	for _, key := range n.keys {
		d.constant(n.fields[key])
	}
}
