package template

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/samtemplate"
)

// Metrics are the names of the metrics that the code writes, by namespace.
type Metrics map[string][]string

// Problems gives what is wrong with a template, one line each; none: it is as it must be. metrics are those of the code.
func Problems(t *samtemplate.Template, metrics Metrics) []string {
	c := &checker{t: t, metrics: metrics, forms: forms()}
	for _, check := range []func(*checker){
		checkGatewayResponses, checkAuthorizers, checkAPI, checkFunctions, checkPermissions, checkRoles, checkWildcards, checkNames,
		checkLogs, checkTables, checkQueues, checkSources, checkTopic, checkAlarms, checkDashboard,
	} {
		check(c)
	}
	return c.problems
}

type checker struct {
	t        *samtemplate.Template
	metrics  Metrics
	forms    []form
	problems []string
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// want says so where a value is another one than wanted.
func (c *checker) want(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.problem("%s is %v: want %v", what, got, want)
	}
}

// ofType gives the resources of a type.
func (c *checker) ofType(typ string) []samtemplate.Resource {
	var found []samtemplate.Resource
	for i := range c.t.Resources {
		if c.t.Resources[i].Type == typ {
			found = append(found, c.t.Resources[i])
		}
	}
	return found
}

// resource gives the properties of the resource of that id and type. What is missing is said, and has no properties.
func (c *checker) resource(id, typ string) map[string]any {
	for i := range c.t.Resources {
		if r := &c.t.Resources[i]; r.LogicalID == id && r.Type == typ {
			return r.Properties
		}
	}
	c.problem("%s is missing: there is no such %s", id, typ)
	return nil
}

// At walks through maps; what is not there is nil.
func At(value any, keys ...string) any {
	for _, key := range keys {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = fields[key]
	}
	return value
}

// items gives a list's items; what is no list has none.
func items(value any) []any {
	list, _ := value.([]any)
	return list
}

// texts gives the texts of a list, or the one text.
func texts(value any) []string {
	if text, ok := value.(string); ok {
		return []string{text}
	}
	var found []string
	for _, item := range items(value) {
		found = append(found, fmt.Sprint(item))
	}
	return found
}

// walk visits every scalar with the key under which it stands.
func walk(value any, visit func(key string, value any)) {
	var step func(key string, value any)
	step = func(key string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				step(name, value[name])
			}
		case []any:
			for _, item := range value {
				step(key, item)
			}
		default:
			visit(key, value)
		}
	}
	step("", value)
}
