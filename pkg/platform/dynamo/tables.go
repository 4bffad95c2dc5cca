package dynamo

import (
	"fmt"
	"strings"
	"unicode"
)

// Tables contains the physical names of the tables. A function fills only the tables that it uses.
type Tables struct {
	FeatureTypes, Features, ContextFields, Feedback, Users, Identifiers, PersonalAccessTokens, APITokens, Traffic,
	Events string
}

type table struct {
	id       string // the logical id in template.yaml
	variable string // the environment variable that contains the name
	name     *string
}

// all lists every table, in the order of template.yaml.
func (t *Tables) all() []table {
	return []table{
		{"FeatureTypes", "FEATURE_TYPES_TABLE", &t.FeatureTypes},
		{"Features", "FEATURES_TABLE", &t.Features},
		{"ContextFields", "CONTEXT_FIELDS_TABLE", &t.ContextFields},
		{"Feedback", "FEEDBACK_TABLE", &t.Feedback},
		{"Users", "USERS_TABLE", &t.Users},
		{"Identifiers", "IDENTIFIERS_TABLE", &t.Identifiers},
		{"PersonalAccessTokens", "PERSONAL_ACCESS_TOKENS_TABLE", &t.PersonalAccessTokens},
		{"ApiTokens", "API_TOKENS_TABLE", &t.APITokens},
		{"Traffic", "TRAFFIC_TABLE", &t.Traffic},
		{"Events", "EVENTS_TABLE", &t.Events},
	}
}

// TableIDs returns the logical ids of all tables, in the order of template.yaml.
func TableIDs() []string {
	var ids []string
	for _, table := range new(Tables).all() {
		ids = append(ids, table.id)
	}
	return ids
}

// TablesByID returns the tables whose names are given by logical id.
func TablesByID(names map[string]string) Tables {
	var t Tables
	for _, table := range t.all() {
		*table.name = names[table.id]
	}
	return t
}

// LocalTables returns the tables of a database of the local service: their names are the logical ids.
func LocalTables() Tables {
	var t Tables
	for _, table := range t.all() {
		*table.name = table.id
	}
	return t
}

// ByID returns the names of all tables by logical id.
func (t Tables) ByID() map[string]string {
	names := map[string]string{}
	for _, table := range t.all() {
		names[table.id] = *table.name
	}
	return names
}

// SetVariable sets the name of the table that belongs to an environment variable.
func (t *Tables) SetVariable(variable, name string) error {
	for _, table := range t.all() {
		if table.variable == variable {
			*table.name = name
			return nil
		}
	}
	return fmt.Errorf("no table belongs to the environment variable %s", variable)
}

// Variable returns the environment variable with the name of a table: FEATURE_TYPES_TABLE for FeatureTypes.
func Variable(id string) string {
	var words strings.Builder
	for i, c := range id {
		if i > 0 && unicode.IsUpper(c) {
			words.WriteByte('_')
		}
		words.WriteRune(unicode.ToUpper(c))
	}
	return words.String() + "_TABLE"
}
