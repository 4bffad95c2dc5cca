package ascode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featurestate"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/toggle"
)

// schema is the JSON Schema of an object.
type schema struct {
	Schema               string         `json:"$schema,omitempty"`
	Title                string         `json:"title"`
	Description          string         `json:"description"`
	Type                 string         `json:"type"`
	AdditionalProperties bool           `json:"additionalProperties"`
	Required             []string       `json:"required,omitempty"`
	Properties           map[string]any `json:"properties"`
}

// read reads the schema of a body of the API.
func read(text []byte) (s schema, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read a schema of the API: %w", err)
	}
	s.Schema = ""
	maps.DeleteFunc(s.Properties, func(_ string, property any) bool { return part(property)["readOnly"] == true }) // which is ignored
	return s, nil
}

// Schema returns the JSON Schema of a document of a file. It consists of the schemas of the bodies of the API.
func Schema() ([]byte, error) {
	var all []schema
	for _, kind := range Kinds() {
		one, err := schemaOf(kind)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		Schema      string   `json:"$schema"`
		Title       string   `json:"title"`
		Description string   `json:"description"`
		Type        string   `json:"type"`
		OneOf       []schema `json:"oneOf"`
	}{
		"https://json-schema.org/draft/2020-12/schema", "resource",
		"What toggleadmin plan and apply read: a toggle, or what toggles share. Omitted properties get their default.", "object", all,
	})
	return text.Bytes(), err
}

// schemaOf returns the JSON Schema of a resource of a kind in a file.
func schemaOf(kind Kind) (s schema, err error) {
	switch kind { //nolint:exhaustive // no document describes a change request
	case KindType:
		s, err = read(featuretype.LifetimeSchemaText())
		s.Description = "The lifetime of a toggle type, which must exist."
		s.Required = []string{"id", "lifetimeDays"}
		s.Properties["id"] = object{"description": "The id of the type, in any letter case.", "type": "string", "minLength": 1}
	case KindField:
		s, err = read(contextfield.CreateSchemaText())
		s.Description = "A context field."
		part(s.Properties["sortOrder"])["description"] = "Position in the list. By default it does not change, and a new field is the last."
	case KindProject:
		s, err = projectSchema()
		s.Required = []string{"id", "name"}
		part(s.Properties["id"])["description"] = "Unique, without regard to letter case."
		part(s.Properties["id"])["minLength"] = 1
	case KindSegment:
		s, err = read(segment.CreateSchemaText())
		s.Description = "A segment."
		s.Required = []string{"name"}
		part(s.Properties["project"])["description"] = "The only project that can use the segment. By default every project can."
	case KindToggle:
		s, err = toggleSchema()
	}
	if err != nil {
		return s, err
	}
	s.Title, s.AdditionalProperties = string(kind), false
	s.Properties["kind"] = object{"type": "string", "enum": []Kind{kind}}
	if kind != KindToggle {
		s.Required = append([]string{"kind"}, s.Required...)
	}
	return s, nil
}

// projectSchema returns the JSON Schema of a project in a file.
func projectSchema() (schema, error) {
	s, err := read(project.CreateSchemaText())
	config, alsoErr := read(project.ConfigSchemaText())
	if err := errors.Join(err, alsoErr); err != nil {
		return schema{}, err
	}
	config.Title, config.Description, config.Required = "protection", "How the environment is protected.", nil
	part(config.Properties["changeRequestsEnabled"])["description"] = "Whether changes need a change request. By default false, " +
		"unless the environment requires it in each project."
	part(config.Properties["requiredApprovals"])["type"] = "integer"
	s.Description = "A project, its environments, and which roles groups have in it."
	delete(s.Properties, "changeRequestEnvironments")
	delete(s.Properties, "featureLimit")
	s.Properties["environments"] = object{
		"description": "All environments in which toggles of the project can be switched, and how they are protected. By default " +
			"they do not change, and a new project has all.",
		"type": "object", "additionalProperties": config,
	}
	s.Properties["groups"] = object{
		"description": "The names of all groups with roles in the project, and the names of these roles. By default they do not change.",
		"type":        "object", "additionalProperties": object{"type": "array", "items": object{"type": "string"}},
	}
	return s, nil
}

// toggleSchema returns the JSON Schema of a toggle in a file.
func toggleSchema() (schema, error) {
	state, err := read(featurestate.Schema())
	strategy, strategyErr := read(featurestrategy.CreateSchemaText())
	dependency, dependencyErr := read(featuredependency.AddSchemaText())
	if err := errors.Join(err, strategyErr, dependencyErr); err != nil {
		return schema{}, err
	}
	strategy.Title, dependency.Title = "strategy", "dependency"
	strategy.Description = "An activation strategy."
	delete(strategy.Properties, "id")
	delete(strategy.Properties, "sortOrder") // the order is that of the list
	strategy.Properties["segments"] = object{
		"description": "Names of segments, all of whose constraints must hold.",
		"type":        "array", "items": object{"type": "string"},
	}
	state.Description = "A toggle."
	state.Required = []string{"name", "project"}
	delete(state.Properties, "managedBy") // that of all toggles of the files
	delete(state.Properties, "archived")  // a file describes a toggle that is not
	name := func(description string) object {
		return object{
			"description": description, "type": "string", "minLength": 1, "maxLength": toggle.MaxName,
			"pattern":        toggle.NamePattern,
			"x-pattern-text": "have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..",
		}
	}
	state.Properties["name"] = name("Unique in the installation.")
	state.Properties["project"] = name("The project of the toggle.")
	state.Properties["dependency"] = dependency
	part(state.Properties["owner"], "properties", "name")["description"] = "The text, or the name of a group, which needs no id. " +
		"That of a person is ignored."
	strategies := part(state.Properties["environments"], "additionalProperties", "properties", "strategies")
	strategies["items"] = strategy
	strategies["description"] = "All strategies, in their order. By default none."
	return state, nil
}

// part returns an object within a JSON value.
func part(value any, names ...string) object {
	for _, name := range names {
		members, _ := value.(object)
		value = members[name]
	}
	members, _ := value.(object)
	return members
}
