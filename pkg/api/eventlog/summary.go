package eventlog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// phrases contains what an actor did, by type, with the id of the subject as %s.
var phrases = map[Type]string{
	InstallationInitialized:    "initialized the installation",
	FeatureTypeCreated:         "created the toggle type %s",
	FeatureCreated:             "created the toggle %s",
	FeatureUpdated:             "updated the toggle %s",
	FeatureArchived:            "archived the toggle %s",
	FeatureRevived:             "revived the toggle %s",
	FeatureDeleted:             "deleted the toggle %s",
	FeatureStaleOn:             "marked the toggle %s as stale",
	FeatureStaleOff:            "no longer marks the toggle %s as stale",
	ContextFieldCreated:        "created the context field %s",
	ContextFieldUpdated:        "updated the context field %s",
	ContextFieldDeleted:        "deleted the context field %s",
	ServiceAccountCreated:      "created the service account %s",
	ServiceAccountUpdated:      "updated the service account %s",
	ServiceAccountDeleted:      "deleted the service account %s",
	ServiceAccountTokenCreated: "created the token %s of a service account",
	ServiceAccountTokenDeleted: "deleted the token %s of a service account",
	PATCreated:                 "created the token %s",
	PATDeleted:                 "deleted the token %s",
	APITokenCreated:            "created the API token %s",
	APITokenDeleted:            "deleted the API token %s",
	UserCreated:                "created the user %s",
	UserUpdated:                "updated the user %s",
	UserDeleted:                "deleted the user %s",
	UserNameRemoved:            "removed the name of the user %s from the log",
}

// Summary returns the event as one sentence in plain text, in one line. It contains the id of the user who made the change, because
// names are not unique, and a user can have the name "system".
func (e Event) Summary() string {
	return strings.Join(strings.Fields(e.sentence()), " ") // names and descriptions can have line breaks
}

func (e Event) sentence() string {
	by := e.By.Name
	if e.By.UserID != 0 {
		by = fmt.Sprintf("%s (user %d)", by, e.By.UserID)
	}
	_, id, _ := strings.Cut(string(e.Subject), ":")
	after, before := members(e.Data), members(e.PreData)
	name := id
	for _, m := range []map[string]any{after, before} { // a name rather than an id
		for _, key := range []string{"username", "name", "description"} {
			if text, ok := m[key].(string); ok && text != "" && text != id && !strings.HasPrefix(string(e.Subject), "toggle:") &&
				!strings.HasPrefix(string(e.Subject), "field:") {
				name = fmt.Sprintf("%s (%s)", id, text)
				break
			}
		}
	}
	switch e.Type { //nolint:exhaustive // the others have a phrase
	case FeatureTypeUpdated:
		return fmt.Sprintf("%s changed the lifetime of the toggle type %s from %s to %s.",
			by, id, lifetime(before["lifetimeDays"]), lifetime(after["lifetimeDays"]))
	case FeaturePotentiallyStaleOn:
		return fmt.Sprintf("The toggle %s became potentially stale.", id)
	case FeaturePotentiallyStaleOff:
		return fmt.Sprintf("The toggle %s is no longer potentially stale (%v).", id, after["reason"])
	case TokenExpiring:
		return fmt.Sprintf("The token %s expires in at most %s.", name, days(after["days"]))
	}
	phrase, ok := phrases[e.Type]
	if !ok {
		return fmt.Sprintf("%s: %s.", by, e.Type)
	}
	if strings.Contains(phrase, "%s") {
		phrase = fmt.Sprintf(phrase, name)
	}
	if strings.HasSuffix(string(e.Type), "-updated") {
		phrase += ": " + changedMembers(after, before)
	}
	return by + " " + phrase + "."
}

func lifetime(n any) string {
	if n == nil {
		return "never"
	}
	return days(n)
}

func days(n any) string {
	if n == json.Number("1") {
		return "1 day"
	}
	return fmt.Sprintf("%v days", n)
}

func members(data json.RawMessage) map[string]any {
	var m map[string]any
	_ = decode(data, &m) // was encoded by this package
	return m
}

// changedMembers returns the names of the members that differ, with the new value of a flag or a role.
func changedMembers(after, before map[string]any) string {
	var changes []string
	for name := range union(after, before) {
		if reflect.DeepEqual(after[name], before[name]) {
			continue
		}
		change := name
		switch value := after[name].(type) {
		case bool:
			change = fmt.Sprintf("%s (now %t)", name, value)
		case map[string]any:
			if role, ok := value["name"].(string); ok {
				change = fmt.Sprintf("%s (now %s)", name, role)
			}
		}
		changes = append(changes, change)
	}
	slices.Sort(changes)
	return strings.Join(changes, ", ")
}
