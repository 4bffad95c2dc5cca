package compiler

import (
	"slices"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
)

// change is what is to be read again of an environment.
type change struct {
	all      bool // everything
	features map[string]bool
	segments map[int64]bool
}

// changes collects the changes of a batch of events, by environment.
type changes struct {
	everywhere change            // in all environments
	in         map[string]change // in one environment
}

func newChange() change { return change{features: map[string]bool{}, segments: map[int64]bool{}} }

// concernsApplications reports whether an event can change what applications download.
func concernsApplications(e eventlog.Event) bool {
	switch e.Type { //nolint:exhaustive // the others are recognized by their subjects
	case eventlog.FeaturePotentiallyStaleOn, eventlog.FeaturePotentiallyStaleOff:
		return false
	case eventlog.EnvironmentCreated:
		return true
	}
	_, isSegment := segmenttable.SubjectID(e.Subject)
	return e.FeatureName != "" || isSegment
}

// changesOf returns the changes of events.
func changesOf(events []eventlog.Event) changes {
	c := changes{everywhere: newChange(), in: map[string]change{}}
	for _, e := range events {
		if !concernsApplications(e) {
			continue
		}
		where := c.everywhere
		if e.Environment != "" {
			if _, ok := c.in[e.Environment]; !ok {
				c.in[e.Environment] = newChange()
			}
			where = c.in[e.Environment]
		}
		id, isSegment := segmenttable.SubjectID(e.Subject)
		switch {
		case e.FeatureName != "":
			where.features[e.FeatureName] = true
		case isSegment:
			where.segments[id] = true
		default: // the environment was created
			where.all = true
			c.in[e.Environment] = where
		}
	}
	return c
}

// of returns the changes in an environment.
func (c changes) of(environment string) change {
	in, ok := c.in[environment]
	if !ok {
		return c.everywhere
	}
	merged := newChange()
	merged.all = in.all
	for _, part := range []change{c.everywhere, in} {
		for name := range part.features {
			merged.features[name] = true
		}
		for id := range part.segments {
			merged.segments[id] = true
		}
	}
	return merged
}

// isEmpty reports whether nothing has changed.
func (c change) isEmpty() bool { return !c.all && len(c.features) == 0 && len(c.segments) == 0 }

// environments returns the environments with changes. all returns those that exist, and is called if a change concerns
// all of them.
func (c changes) environments(all func() ([]string, error)) ([]string, error) {
	var names []string
	for name := range c.in {
		names = append(names, name)
	}
	if !c.everywhere.isEmpty() {
		existing, err := all()
		if err != nil {
			return nil, err
		}
		names = append(names, existing...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
