package world

import (
	"slices"

	"toggleadmin/pkg/platform/dynamo"
)

// constraints returns no constraint, or one that names a context field.
func (a *actor) constraints() []object {
	if a.IntN(2) == 0 {
		return []object{}
	}
	return []object{{
		"contextName": subject(a, a.fields.names...), "operator": "IN", "values": []string{choose(a, "1", "2")},
	}}
}

// checkLegalValues checks that the constraints of toggles have only legal values, except those of toggles that were
// archived at some time.
func (w *World) checkLegalValues() {
	legal := map[string][]string{}
	for _, item := range w.db.Items("ContextFields") {
		var field struct {
			LegalValues []struct {
				Value string `dynamodbav:"value"`
			} `dynamodbav:"legalValues"`
		}
		w.must(dynamo.Unmarshal(item, &field))
		for _, v := range field.LegalValues {
			legal[item.String("name")] = append(legal[item.String("name")], v.Value)
		}
	}
	for name, states := range w.activation.toggles {
		f := states[len(states)-1].feature
		if f == nil || slices.ContainsFunc(states, func(s toggleAt) bool { return s.feature != nil && s.feature.Archived }) {
			continue
		}
		for environment, e := range f.Environments {
			for _, s := range e.Strategies {
				for _, c := range s.Constraints {
					values := legal[c.ContextName]
					if values != nil && slices.ContainsFunc(c.Values, func(v string) bool { return !slices.Contains(values, v) }) {
						w.fail("the toggle %s has the constraint %v in %s, but the legal values are %.3q", name, c, environment,
							values)
					}
				}
			}
		}
	}
}
