package samtemplate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader reads one template. It keeps the first error; what it reads afterwards is not used.
type reader struct {
	document     *Document
	parent       *reader           // of the template that nests this one; nil: none does
	parameters   map[string]string // with the pseudo parameters
	resources    map[string]*resource
	applications map[string]*Template   // nested ones that have been read, by logical id
	allowed      map[string][]Statement // by the policies of a role, by logical id
	within       string                 // the resource, parameter, rule or output that is being read, for errors
	err          error
}

func newReader(d *Document, pseudoParameters map[string]string) *reader {
	return &reader{
		document: d, parameters: pseudoParameters, resources: map[string]*resource{}, applications: map[string]*Template{},
		allowed: map[string][]Statement{},
	}
}

func (r *reader) fail(at *yaml.Node, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: %s: %s", r.document.file, at.Line, cmp.Or(r.within, "the template"),
			fmt.Sprintf(format, args...))
	}
}

// find returns a resource of this template or of one that nests it, or nil.
func (r *reader) find(id string) *resource {
	if found := r.resources[id]; found != nil || r.parent == nil {
		return found
	}
	return r.parent.find(id)
}

// only rejects a value that the local gateway does not support.
func only[T comparable](r *reader, at *yaml.Node, property string, got, supported T) {
	if got != supported {
		r.fail(at, "%s %v is not supported by the local gateway, only %v", property, got, supported)
	}
}

// pairs yields the keys and values of a mapping, in order.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for pair := range slices.Chunk(n.Content, 2) {
			if !yield(pair[0], pair[1]) {
				return
			}
		}
	}
}

// get returns the value of a key, or an empty node.
func get(n *yaml.Node, key string) *yaml.Node {
	for k, value := range pairs(n) {
		if k.Value == key {
			return value
		}
	}
	return &yaml.Node{Line: n.Line}
}

func text(n *yaml.Node, key string) string { return get(n, key).Value }

// ignored is a property that has no effect on one machine.
type ignored = any

// decode decodes a value without functions. A property that the type does not have is an error.
func (r *reader) decode(n *yaml.Node, into any) {
	if r.err != nil || n.Kind == 0 {
		return
	}
	var value any
	if err := n.Decode(&value); err != nil {
		r.fail(n, "%s", err)
		return
	}
	r.convert(n, value, into)
}

// convert is decode for a value that is decoded into maps and lists.
func (r *reader) convert(n *yaml.Node, value, into any) {
	if r.err != nil || value == nil {
		return
	}
	content, err := json.Marshal(value)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(into)
	}
	if err == nil {
		return
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		r.fail(n, "%s is not supported by the local gateway", strings.Trim(name, `"`))
		return
	}
	r.fail(n, "%s", strings.TrimPrefix(err.Error(), "json: "))
}
