package samtemplate

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
)

// application reads the template that a resource nests, once. It is read when another resource refers to its outputs,
// or when its turn comes.
func (r *reader) application(found *resource) *Template {
	if read := r.applications[found.id]; read != nil {
		return read
	}
	var p struct {
		Location   string
		Parameters map[string]any
	}
	r.applications[found.id] = &Template{} // has no output for a parameter of the template itself
	r.decode(r.resolve(found.properties), &p)
	parameters := map[string]string{}
	for name, value := range p.Parameters {
		parameters[name] = fmt.Sprint(value)
	}
	pseudoParameters := maps.Clone(r.parameters)
	maps.DeleteFunc(pseudoParameters, func(name, _ string) bool { return !strings.HasPrefix(name, "AWS::") })
	pseudoParameters["AWS::StackName"] += "-" + found.id
	nested := newReader(r.document.applications[found.id], pseudoParameters)
	nested.parent = r
	t := nested.read(parameters)
	if nested.err != nil {
		r.err = cmp.Or(r.err, nested.err)
		t = &Template{}
	}
	r.applications[found.id] = t
	return t
}

// addApplication adds the resources of a nested template to those of the template that nests it. On one machine, a
// logical id is also the name of a resource, so both have different ones.
func (r *reader) addApplication(t *Template, found *resource) {
	nested := r.application(found)
	for _, resource := range nested.Resources {
		if r.find(resource.LogicalID) != nil {
			r.fail(found.at, "both templates have a resource %s", resource.LogicalID)
		}
	}
	t.Functions = append(t.Functions, nested.Functions...)
	t.Tables = append(t.Tables, nested.Tables...)
	t.Queues = append(t.Queues, nested.Queues...)
	t.Rules = append(t.Rules, nested.Rules...)
	t.Resources = append(t.Resources, nested.Resources...)
}

// output returns the value of an output of a nested template: Outputs.NAME.
func (r *reader) output(at *yaml.Node, found *resource, attribute string) string {
	outputs := r.application(found).Outputs
	name, ok := strings.CutPrefix(attribute, "Outputs.")
	value, exists := outputs[name]
	if !ok || !exists {
		r.fail(at, "%s has no output %s", found.id, attribute)
	}
	return value
}
