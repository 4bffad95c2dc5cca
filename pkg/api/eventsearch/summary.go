package eventsearch

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"toggleadmin/pkg/eventlog"
)

// Summary returns an event as one sentence in plain text, in one line. It contains the id of the user who made the
// change, because names are not unique: a person, a service account and the system can have the same one.
func Summary(e eventlog.Event) string {
	return strings.Join(strings.Fields(sentence(e)), " ") // names and descriptions can have line breaks
}

func sentence(e eventlog.Event) string {
	by := e.By.Name
	switch e.By.Kind() { //nolint:exhaustive // the names of the others contain their kind
	case eventlog.KindUser:
		by = described(by, fmt.Sprintf("user %d", e.By.UserID))
	case eventlog.KindServiceAccount:
		by = described(by, fmt.Sprintf("service account %d", e.By.UserID))
	}
	_, id, _ := strings.Cut(string(e.Subject), ":")
	after, _ := eventlog.Properties(e.Data) // package eventlog encoded it
	before, _ := eventlog.Properties(e.PreData)
	name := id
	if e.SubjectName != "" {
		name = fmt.Sprintf("%s (%s)", id, e.SubjectName)
	}
	for _, m := range []map[string]any{after, before} { // a name rather than an id
		for _, key := range []string{"username", "name", "tokenName", "description"} {
			if text, ok := m[key].(string); ok && text != "" && text != id && !strings.HasPrefix(string(e.Subject), "toggle:") &&
				!strings.HasPrefix(string(e.Subject), "field:") {
				name = fmt.Sprintf("%s (%s)", id, text)
				break
			}
		}
	}
	switch e.Type { //nolint:exhaustive // the others have a phrase
	case eventlog.FeatureTypeUpdated:
		return fmt.Sprintf("%s changed the lifetime of the toggle type %s from %s to %s.",
			by, id, lifetime(before["lifetimeDays"]), lifetime(after["lifetimeDays"]))
	case eventlog.FeaturePotentiallyStaleOn:
		return fmt.Sprintf("The toggle %s became potentially stale.", id)
	case eventlog.FeaturePotentiallyStaleOff:
		return fmt.Sprintf("The toggle %s is no longer potentially stale (%v).", id, after["reason"])
	case eventlog.FeatureTagged:
		return fmt.Sprintf("%s added the tag %v:%v to the toggle %s.", by, after["type"], after["value"], id)
	case eventlog.FeatureUntagged:
		return fmt.Sprintf("%s removed the tag %v:%v from the toggle %s.", by, before["type"], before["value"], id)
	case eventlog.FeatureLinkAdded:
		return fmt.Sprintf("%s added the link %v to the toggle %s.", by, after["url"], id)
	case eventlog.FeatureLinkUpdated:
		return fmt.Sprintf("%s changed the link %v of the toggle %s to %v.", by, before["url"], id, after["url"])
	case eventlog.FeatureLinkRemoved:
		return fmt.Sprintf("%s removed the link %v from the toggle %s.", by, before["url"], id)
	case eventlog.ProjectEnvironmentAdded:
		return fmt.Sprintf("%s added the environment %v to the project %s.", by, after["environment"], name)
	case eventlog.ProjectEnvironmentRemoved:
		return fmt.Sprintf("%s removed the environment %v from the project %s.", by, before["environment"], name)
	case eventlog.EnvironmentFreezeSet:
		return fmt.Sprintf("%s froze %s from %v until %v: %v.", by, frozen(e), after["from"], after["until"], after["reason"])
	case eventlog.EnvironmentFreezeRemoved:
		return fmt.Sprintf("%s ended the freeze of %s.", by, frozen(e))
	case eventlog.ChangeRequestScheduled:
		return fmt.Sprintf("%s scheduled the change request %s for %v.", by, id, schedule(after)["scheduledAt"])
	case eventlog.ChangeRequestSuspended:
		return fmt.Sprintf("The change request %s was not applied at its time: %s.", id, reason(after))
	case eventlog.ChangeRequestFailed:
		return fmt.Sprintf("The change request %s could not be applied at its time: %s.", id, reason(after))
	case eventlog.TokenExpiring:
		return fmt.Sprintf("The token %s expires in at most %s.", name, days(after["days"]))
	}
	phrase := e.Type.Definition().Phrase
	if phrase == "" {
		return fmt.Sprintf("%s: %s.", by, e.Type)
	}
	if strings.Contains(phrase, "%s") {
		phrase = fmt.Sprintf(phrase, name)
	}
	if e.Environment != "" && e.FeatureName != "" { // a switch or a strategy
		phrase += " in " + e.Environment
	}
	if e.Type == eventlog.ChangeRequestConfigUpdated {
		phrase = fmt.Sprintf("changed the protection of the environment %s of the project %s", e.Environment, name)
	}
	if strings.HasSuffix(string(e.Type), "-updated") {
		phrase += ": " + changedProperties(after, before)
	}
	switch {
	case e.PermittedBy.SkippedChangeRequest:
		phrase += ", without a change request"
	case e.PermittedBy.TurnedOff:
		phrase += ", as is allowed without a change request"
	}
	return by + " " + phrase + "."
}

// frozen returns how a sentence names the environment of the event of a freeze.
func frozen(e eventlog.Event) string {
	if e.Project == "" {
		return "the environment " + e.Environment
	}
	return fmt.Sprintf("the environment %s of the project %s", e.Environment, e.Project)
}

// schedule returns the schedule in the data of an event of a change request.
func schedule(data map[string]any) map[string]any {
	s, _ := data["schedule"].(map[string]any)
	return s
}

// reason returns why a scheduled change request was not applied, without the period of a sentence.
func reason(data map[string]any) string {
	text, _ := schedule(data)["reason"].(string)
	return strings.TrimSuffix(text, ".")
}

// described returns how a sentence names the user who made a change.
func described(name, id string) string {
	if name == "deleted "+id {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, id)
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

// changedProperties returns the names of the properties that differ, with the new value of a flag or a role.
func changedProperties(after, before map[string]any) string {
	var changes []string
	all := map[string]any{}
	maps.Copy(all, after)
	maps.Copy(all, before)
	for name := range all {
		if reflect.DeepEqual(after[name], before[name]) {
			continue
		}
		if personal, ok := after[name].([]any); ok && name == "changed" { // whose values events do not contain
			for _, property := range personal {
				changes = append(changes, fmt.Sprint(property))
			}
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
