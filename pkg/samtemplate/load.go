package samtemplate

import (
	"fmt"
	"os"
	"strings"
)

// transform is the macro that makes a template a SAM template.
const transform = "AWS::Serverless-2016-10-31"

// Load reads the template at path as a deployment with these settings would see it. An error is one line: file, line, place in the
// template, and what is wrong or not known there.
func Load(path string, s Settings) (*Template, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return Parse(path, content, s)
}

// Parse is Load for a template that is in memory already; file is its name in errors.
func Parse(file string, content []byte, s Settings) (*Template, error) {
	t, err := read(content, s)
	if err != nil {
		return nil, prefix(file, err)
	}
	return t, nil
}

func read(content []byte, s Settings) (*Template, error) {
	root, err := parse(content)
	if err != nil {
		return nil, err
	}
	d := &decoder{}
	sections := d.object(root)
	sections.must("Transform", transform)
	sections.notPlayed("AWSTemplateFormatVersion", "Description", "Metadata")
	r := &resolver{settings: s.withDefaults(), mappings: sections.get("Mappings")}
	declared, defined, asserted := sections.get("Parameters"), sections.get("Conditions"), sections.child("Rules")
	globals, outputs := sections.child("Globals"), sections.child("Outputs")
	resources := d.object(sections.need("Resources"))
	sections.done()
	if defined != nil && defined.kind != dict {
		d.fail(defined, "must be a map")
	}
	if r.mappings != nil {
		d.constant(r.mappings)
	}
	if d.err != nil {
		return nil, d.err
	}
	if r.parameters, err = parameters(declared, s.Parameters); err != nil {
		return nil, err
	}
	r.conditions = newConditions(defined)
	if err := r.keepRules(asserted); err != nil {
		return nil, err
	}
	if err := r.readResources(resources, globals); err != nil {
		return nil, err
	}
	if err := r.conditions.all(r); err != nil {
		return nil, err
	}
	return r.assemble(outputs)
}

// readResources finds all resources before any is resolved: they refer to one another.
func (r *resolver) readResources(section, globals *object) error {
	function, api := globals.get("Function"), globals.get("Api")
	globals.done()
	r.resources = make(map[string]*resource, len(section.n.keys))
	for _, id := range section.n.keys {
		found := readResource(section.d, id, section.n.fields[id])
		switch found.typ {
		case typeFunction:
			found.properties = withGlobals(function, found.properties)
		case typeAPI:
			found.properties = withGlobals(api, found.properties)
		}
		r.resources[id] = found
		r.order = append(r.order, found)
	}
	return section.d.err
}

// resolveResources resolves the resources that are made, and gives them.
func (r *resolver) resolveResources(d *decoder) ([]*resource, error) {
	var made []*resource
	for _, found := range r.order {
		is, err := r.made(found)
		if err != nil {
			return nil, err
		}
		for _, name := range found.dependsOn {
			if r.resources[name] == nil {
				d.fail(found.n, "DependsOn: there is no resource %q", name)
			}
		}
		if !is {
			continue
		}
		if found.properties, err = r.resolve(found.properties); err != nil {
			return nil, err
		}
		made = append(made, found)
	}
	return made, d.err
}

// assemble reads each resource that is made by its type.
func (r *resolver) assemble(outputs *object) (*Template, error) {
	t := &Template{}
	d := outputs.d
	made, err := r.resolveResources(d)
	if err != nil {
		return nil, err
	}
	var api *resource
	var events []event
	for _, found := range made {
		t.Resources = append(t.Resources, found.export())
		switch found.typ {
		case typeAPI:
			if api != nil {
				d.fail(found.n, "is a second API beside %s: only one is known", api.id)
			}
			api = found
		case typeFunction:
			function, own := readFunction(d, r, found)
			t.Functions = append(t.Functions, function)
			events = append(events, own...)
		case typeTable:
			t.Tables = append(t.Tables, readTable(d, found))
		case typeQueue:
			t.Queues = append(t.Queues, readQueue(d, found))
		}
	}
	if d.err == nil && api == nil {
		d.fail(&node{line: 1, path: "Resources"}, "there is no %s", typeAPI)
	}
	if d.err != nil {
		return nil, d.err
	}
	t.API = readAPI(d, r, api)
	t.API.Routes = routes(d, t.API, events)
	if err := r.readOutputs(t, outputs); err != nil {
		return nil, err
	}
	return t, d.err
}

func (r *resolver) readOutputs(t *Template, outputs *object) error {
	t.Outputs = make(map[string]string, len(outputs.n.keys))
	for _, name := range outputs.n.keys {
		output := outputs.d.object(outputs.n.fields[name])
		condition := output.get("Condition")
		value := output.need("Value")
		output.notPlayed("Description", "Export")
		output.done()
		if outputs.d.err != nil {
			return outputs.d.err
		}
		if condition != nil {
			holds, err := r.conditions.holds(r, condition, condition.text)
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
		}
		text, err := r.text(value, "Value")
		if err != nil {
			return err
		}
		t.Outputs[name] = strings.TrimSpace(text)
	}
	return nil
}
