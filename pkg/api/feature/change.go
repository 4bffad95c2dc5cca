package feature

import (
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// Differences returns what the creation of a toggle with its state, or a change of it, records in the order of the
// events, without flips of its flag. The events are those of the operations that make one difference each. A toggle that
// is created is one without a Name before.
func Differences(old, next toggle.Feature) []eventlog.Change {
	if old.Name != "" {
		return changes(old, next.Normalized())
	}
	next = next.Normalized()
	record := next
	record.Environments, record.Dependency, record.ContextFields = nil, nil, next.OtherContextFields()
	created := featuretable.Change(next, eventlog.FeatureCreated, record.JSON(), nil)
	return append([]eventlog.Change{created}, changes(record, next)...)
}

// changes returns what an update of a toggle records, without its flip: one change for each event.
func changes(old, next toggle.Feature) (all []eventlog.Change) {
	add := func(t eventlog.Type, state toggle.Feature) {
		all = append(all, featuretable.Change(next, t, summary(state), summary(old)))
		old = state
	}
	if old.Project != next.Project {
		c := featuretable.Change(next, eventlog.FeatureProjectChange, projectData{next.Project}, projectData{old.Project})
		all = append(all, c)
		old.Project = next.Project
	}
	if old.Archived != next.Archived {
		state := old
		state.Archived, state.ArchivedAt = next.Archived, next.ArchivedAt
		kind := eventlog.FeatureRevived
		if next.Archived {
			kind = eventlog.FeatureArchived
		}
		add(kind, state)
	}
	if old.Stale != next.Stale {
		state := old
		state.Stale = next.Stale
		kind := eventlog.FeatureStaleOff
		if next.Stale {
			kind = eventlog.FeatureStaleOn
		}
		add(kind, state)
	}
	environments := maps.Clone(old.Environments)
	if environments == nil {
		environments = map[string]toggle.Environment{}
	}
	maps.Copy(environments, next.Environments)
	for _, name := range slices.Sorted(maps.Keys(environments)) {
		if changed := environmentChanges(old, next, name); len(changed) > 0 {
			all = append(all, changed...)
			old.SetEnvironment(name, next.Environments[name])
		}
	}
	all = append(all, dependencyChanges(old, next)...)
	old.Dependency = next.Dependency
	all = append(all, tagChanges(old, next)...)
	old.Tags = next.Tags
	all = append(all, linkChanges(old, next)...)
	old.Links = next.Links
	if old.Differs(next) {
		add(eventlog.FeatureUpdated, next)
	}
	return all
}

// environmentChanges returns what a change of the state of an environment records. A toggle that is turned on is
// recorded after the strategies that it needs, and one that is turned off before the strategies that are removed.
func environmentChanges(old, next toggle.Feature, name string) (all []eventlog.Change) {
	add := func(t eventlog.Type, data, preData any) {
		c := featuretable.Change(next, t, data, preData)
		c.Environment = name
		all = append(all, c)
	}
	before, after := old.Environments[name], next.Environments[name]
	var reordered bool
	for _, s := range after.Strategies {
		i := before.Strategy(s.ID)
		if i < 0 {
			add(eventlog.FeatureStrategyAdd, s, nil)
			continue
		}
		moved := before.Strategies[i]
		moved.SortOrder = s.SortOrder
		switch {
		case !reflect.DeepEqual(moved, s):
			add(eventlog.FeatureStrategyUpdate, s, before.Strategies[i])
		case before.Strategies[i].SortOrder != s.SortOrder:
			reordered = true
		}
	}
	if reordered {
		add(eventlog.StrategyOrderChanged, strategyOrder{ids(after)}, strategyOrder{ids(before)})
	}
	switch {
	case !before.Enabled && after.Enabled:
		add(eventlog.FeatureEnvironmentEnabled, nil, nil)
	case before.Enabled && !after.Enabled:
		add(eventlog.FeatureEnvironmentDisabled, nil, nil)
	}
	for _, s := range before.Strategies {
		if after.Strategy(s.ID) < 0 {
			add(eventlog.FeatureStrategyRemove, nil, s)
		}
	}
	return all
}

// dependencyChanges returns what a change of the dependency records: one that is replaced is removed, then added. As
// in Unleash, the data of both events is the dependency.
func dependencyChanges(old, next toggle.Feature) (all []eventlog.Change) {
	if reflect.DeepEqual(old.Dependency, next.Dependency) {
		return nil
	}
	if old.Dependency != nil {
		all = append(all, featuretable.Change(next, eventlog.FeatureDependencyRemoved, old.Dependency, nil))
	}
	if next.Dependency != nil {
		all = append(all, featuretable.Change(next, eventlog.FeatureDependencyAdded, next.Dependency, nil))
	}
	return all
}

// tagChanges returns what a change of the tags records: an event for each tag, first those that are removed. As in
// Unleash, the data is the tag.
func tagChanges(old, next toggle.Feature) (all []eventlog.Change) {
	for _, tag := range old.Tags {
		if !next.HasTag(tag) {
			all = append(all, featuretable.Change(next, eventlog.FeatureUntagged, nil, tag))
		}
	}
	for _, tag := range next.Tags {
		if !old.HasTag(tag) {
			all = append(all, featuretable.Change(next, eventlog.FeatureTagged, tag, nil))
		}
	}
	return all
}

// linkChanges returns what a change of the links records. As in Unleash, the data is the link.
func linkChanges(old, next toggle.Feature) (all []eventlog.Change) {
	for _, link := range old.Links {
		if next.Link(link.ID) < 0 {
			all = append(all, featuretable.Change(next, eventlog.FeatureLinkRemoved, nil, link))
		}
	}
	for _, link := range next.Links {
		switch i := old.Link(link.ID); {
		case i < 0:
			all = append(all, featuretable.Change(next, eventlog.FeatureLinkAdded, link, nil))
		case !reflect.DeepEqual(old.Links[i], link):
			all = append(all, featuretable.Change(next, eventlog.FeatureLinkUpdated, link, old.Links[i]))
		}
	}
	return all
}

// projectData is the data of the event feature-project-change.
type projectData struct {
	Project string `json:"project"`
}

// strategyOrder is the data of the event strategy-order-changed.
type strategyOrder struct {
	StrategyIDs []string `json:"strategyIds"`
}

func ids(e toggle.Environment) []string {
	all := make([]string, len(e.Strategies))
	for i, s := range e.Strategies {
		all[i] = s.ID
	}
	return all
}

// constrainedStrategies returns the strategies whose constraints or stickiness a change writes.
func constrainedStrategies(old, next toggle.Feature) (all []toggle.Strategy) {
	for _, name := range slices.Sorted(maps.Keys(next.Environments)) {
		before := old.Environments[name]
		for _, s := range next.Environments[name].Strategies {
			if i := before.Strategy(s.ID); i >= 0 && sameConstraints(before.Strategies[i], s) {
				continue
			}
			all = append(all, s)
		}
	}
	return all
}

func sameConstraints(a, b toggle.Strategy) bool {
	return reflect.DeepEqual(a.Constraints, b.Constraints) &&
		a.Parameters[toggle.ParameterStickiness] == b.Parameters[toggle.ParameterStickiness]
}
