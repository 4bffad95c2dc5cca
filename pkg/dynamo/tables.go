package dynamo

import "fmt"

// Tables holds the physical names of the tables. A function fills only the tables that it uses.
type Tables struct {
	FeatureTypes, Features, ContextFields, Feedback, Users, PersonalAccessTokens, APITokens, Traffic string
}

// tables lists every table with its logical id in template.yaml and the environment variable that holds its name.
var tables = []struct {
	id, variable string
	field        func(*Tables) *string
}{
	{"FeatureTypes", "FEATURE_TYPES_TABLE", func(t *Tables) *string { return &t.FeatureTypes }},
	{"Features", "FEATURES_TABLE", func(t *Tables) *string { return &t.Features }},
	{"ContextFields", "CONTEXT_FIELDS_TABLE", func(t *Tables) *string { return &t.ContextFields }},
	{"Feedback", "FEEDBACK_TABLE", func(t *Tables) *string { return &t.Feedback }},
	{"Users", "USERS_TABLE", func(t *Tables) *string { return &t.Users }},
	{"PersonalAccessTokens", "PERSONAL_ACCESS_TOKENS_TABLE", func(t *Tables) *string { return &t.PersonalAccessTokens }},
	{"ApiTokens", "API_TOKENS_TABLE", func(t *Tables) *string { return &t.APITokens }},
	{"Traffic", "TRAFFIC_TABLE", func(t *Tables) *string { return &t.Traffic }},
}

// TableIDs returns the logical ids of all tables, in the order of template.yaml.
func TableIDs() []string {
	ids := make([]string, len(tables))
	for i, t := range tables {
		ids[i] = t.id
	}
	return ids
}

// TablesByID returns the tables whose names are given by logical id.
func TablesByID(names map[string]string) Tables {
	var all Tables
	for _, t := range tables {
		*t.field(&all) = names[t.id]
	}
	return all
}

// ByID returns the names of all tables by logical id.
func (t Tables) ByID() map[string]string {
	names := make(map[string]string, len(tables))
	for _, table := range tables {
		names[table.id] = *table.field(&t)
	}
	return names
}

// SetVariable sets the name of the table that the environment variable stands for.
func (t *Tables) SetVariable(variable, name string) error {
	for _, table := range tables {
		if table.variable == variable {
			*table.field(t) = name
			return nil
		}
	}
	return fmt.Errorf("no table belongs to the environment variable %s", variable)
}
