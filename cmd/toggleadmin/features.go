package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/operator"
)

type featuresCmd struct {
	List    listTogglesCmd   `cmd:"" help:"List the toggles."`
	Put     putToggleCmd     `cmd:"" help:"Create a toggle, or change the given properties."`
	Archive archiveToggleCmd `cmd:"" help:"Archive a toggle."`
	Revive  reviveToggleCmd  `cmd:"" help:"Revive an archived toggle."`
	Stale   staleToggleCmd   `cmd:"" help:"Mark a toggle as stale, or remove the mark."`
	Delete  deleteToggleCmd  `cmd:"" help:"Delete a toggle."`
}

type (
	listTogglesCmd struct {
		Project string  `help:"Only toggles of this project."`
		Type    string  `help:"Only toggles of this type."`
		State   *string `enum:"active,potentially-stale,stale,archived" placeholder:"STATE" help:"Only active, potentially-stale, stale or archived ones."`
	}
	putToggleCmd struct {
		toggleName

		Project         *string  `help:"Project (for a new toggle: default)."`
		Type            *string  `help:"Type (for a new toggle: release)."`
		ContextField    []string `sep:"none" placeholder:"NAME" xor:"fields" help:"Context field of the toggle. Repeat for more. Replaces all."`
		NoContextFields bool     `xor:"fields" help:"The toggle uses no context fields."`
	}
	archiveToggleCmd struct{ toggleName }
	reviveToggleCmd  struct{ toggleName }
	staleToggleCmd   struct {
		toggleName

		Undo bool `help:"Remove the mark."`
	}
	deleteToggleCmd struct{ toggleName }
	toggleName      struct {
		Name string `arg:"" help:"Name of the toggle."`
	}
)

func toggleState(t *operator.Toggle) string {
	switch {
	case t.Archived:
		return "archived"
	case t.Stale:
		return "stale"
	case t.PotentiallyStale:
		return "potentially-stale"
	}
	return "active"
}

func (c *listTogglesCmd) Run(s *session, o *operator.Operator) error {
	all, err := o.Toggles(s.step())
	if err != nil {
		return err
	}
	matches := func(filter, value string) bool { return filter == "" || filter == value }
	toggles := []operator.Toggle{}
	for _, t := range all {
		if matches(c.Project, t.Project) && matches(c.Type, t.Type) && matches(text(c.State), toggleState(&t)) {
			toggles = append(toggles, t)
		}
	}
	if len(toggles) == 0 {
		s.inform("%s", c.explainEmpty(all))
	}
	return printList(s, toggles, []column[operator.Toggle]{
		{name: "NAME", cell: func(t operator.Toggle) string { return t.Name }, cut: true},
		{name: "STATE", cell: func(t operator.Toggle) string { return toggleState(&t) }},
		{name: "TYPE", cell: func(t operator.Toggle) string { return t.Type }, cut: true},
		{name: "PROJECT", cell: func(t operator.Toggle) string { return t.Project }, cut: true},
		{name: "CREATED", cell: func(t operator.Toggle) string { return s.relative(&t.CreatedAt) }},
		{name: "FIELDS", cell: func(t operator.Toggle) string { return strconv.Itoa(len(t.ContextFields)) }},
	})
}

// explainEmpty says why no toggle matches.
func (c *listTogglesCmd) explainEmpty(all []operator.Toggle) string {
	for _, filter := range []struct {
		what, value string
		of          func(operator.Toggle) string
	}{
		{"project", c.Project, func(t operator.Toggle) string { return t.Project }},
		{"type", c.Type, func(t operator.Toggle) string { return t.Type }},
	} {
		used := map[string]bool{}
		for _, t := range all {
			used[filter.of(t)] = true
		}
		if filter.value != "" && len(all) > 0 && !used[filter.value] {
			return fmt.Sprintf("no toggle has the %s %q: there are %s", filter.what, filter.value,
				strings.Join(slices.Sorted(maps.Keys(used)), ", "))
		}
	}
	return fmt.Sprintf("none of %d toggles matches", len(all))
}

func (c *putToggleCmd) Run(s *session, o *operator.Operator) error {
	change := operator.ToggleChange{Project: c.Project, Type: c.Type}
	if len(c.ContextField) > 0 || c.NoContextFields {
		change.ContextFields = &c.ContextField
	}
	t, created, changed, err := o.PutToggle(s.step(), c.Name, change)
	if err != nil {
		return err
	}
	verb := "not changed:"
	switch {
	case created:
		verb = "created"
	case changed:
		verb = "changed"
	}
	return s.result(struct {
		operator.Toggle

		Created bool `json:"created"`
		Changed bool `json:"changed"`
	}{t, created, changed}, "%s %s, type %s, in project %s", verb, t.Name, t.Type, t.Project)
}

func (c *archiveToggleCmd) Run(s *session, o *operator.Operator) error {
	t, changed, err := o.SetArchived(s.step(), c.Name, true)
	return toggleResult(s, t, changed, err, "archived")
}

func (c *reviveToggleCmd) Run(s *session, o *operator.Operator) error {
	t, changed, err := o.SetArchived(s.step(), c.Name, false)
	return toggleResult(s, t, changed, err, "not archived")
}

func (c *staleToggleCmd) Run(s *session, o *operator.Operator) error {
	t, changed, err := o.SetStale(s.step(), c.Name, !c.Undo)
	state := "marked as stale"
	if c.Undo {
		state = "not marked as stale"
	}
	return toggleResult(s, t, changed, err, state)
}

func toggleResult(s *session, t operator.Toggle, changed bool, err error, state string) error {
	if err != nil {
		return err
	}
	return s.stateResult(struct {
		operator.Toggle

		Changed bool `json:"changed"`
	}{t, changed}, changed, t.Name, state)
}

func (c *deleteToggleCmd) Run(s *session, o *operator.Operator) error {
	t, err := o.Toggle(s.step(), c.Name)
	if err != nil {
		return err
	}
	if err := s.confirm("Delete the toggle %s (%s, project %s)?", t.Name, toggleState(&t), t.Project); err != nil {
		return err
	}
	if err := o.DeleteToggle(s.step(), c.Name); err != nil {
		return err
	}
	return s.result(map[string]operator.Toggle{"deleted": t}, "deleted %s", t.Name)
}
