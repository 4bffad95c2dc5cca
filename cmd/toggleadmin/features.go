package main

import (
	"context"
	"strings"

	"toggleadmin/pkg/operator"
)

type toggleCmd struct {
	List    listTogglesCmd   `cmd:"" help:"List the toggles."`
	Put     putToggleCmd     `cmd:"" help:"Make a toggle, or change what is given of one that is there."`
	Archive archiveToggleCmd `cmd:"" help:"Archive a toggle: it counts for nothing and is never due."`
	Restore restoreToggleCmd `cmd:"" help:"Restore an archived toggle."`
	Stale   staleToggleCmd   `cmd:"" help:"Mark a toggle as stale, or take the mark away."`
	Delete  deleteToggleCmd  `cmd:"" help:"Delete a toggle for good."`
}

type (
	listTogglesCmd struct {
		Project string `help:"Only this project's."`
		Type    string `help:"Only this type's."`
		State   string `enum:",active,potentially-stale,stale,archived" default:"" help:"Only active, potentially-stale, stale or archived ones."`
	}
	putToggleCmd struct {
		toggleName

		Project         *string  `help:"Project (default of a new toggle)."`
		Type            *string  `help:"Feature type (release, of a new toggle)."`
		ContextField    []string `sep:"none" placeholder:"NAME" xor:"fields" help:"Context field that it uses; repeat for more. Those given replace all."`
		NoContextFields bool     `xor:"fields" help:"It uses no context field any more."`
	}
	archiveToggleCmd struct{ toggleName }
	restoreToggleCmd struct{ toggleName }
	staleToggleCmd   struct {
		toggleName

		Undo bool `help:"Take the mark away."`
	}
	deleteToggleCmd struct{ toggleName }
)

type toggleName struct {
	Name string `arg:"" help:"Name of the toggle."`
}

// stateOf is the one word for what a toggle is.
func stateOf(t *operator.Toggle) string {
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

func (c *listTogglesCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	all, err := o.Toggles(ctx)
	if err != nil {
		return err
	}
	chosen, rows := []operator.Toggle{}, [][]string{}
	for _, t := range all {
		if c.Project != "" && t.Project != c.Project || c.Type != "" && t.Type != c.Type || c.State != "" && stateOf(&t) != c.State {
			continue
		}
		chosen = append(chosen, t)
		rows = append(rows, []string{t.Name, t.Project, t.Type, stateOf(&t), t.CreatedAt, strings.Join(t.ContextFields, " ")})
	}
	if s.JSON {
		return printJSON(s.out, chosen)
	}
	return printTable(s.out, []string{"NAME", "PROJECT", "TYPE", "STATE", "CREATED", "CONTEXT FIELDS"}, rows)
}

// toggleChange is what the changing commands print as JSON.
type toggleChange struct {
	operator.Toggle

	Changed bool `json:"changed"` // false: it was so already
}

// putToggle is what put prints as JSON.
type putToggle struct {
	operator.Toggle

	Created bool `json:"created"` // false: it was there
}

func (c *putToggleCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	change := operator.ToggleChange{Project: c.Project, Type: c.Type}
	if len(c.ContextField) > 0 || c.NoContextFields {
		change.ContextFields = &c.ContextField
	}
	t, created, err := o.Put(ctx, c.Name, change)
	if err != nil {
		return err
	}
	if created {
		return s.result(putToggle{t, true}, "made %s, type %s, in project %s", t.Name, t.Type, t.Project)
	}
	return s.result(putToggle{t, false}, "%s is of type %s, in project %s", t.Name, t.Type, t.Project)
}

func (c *archiveToggleCmd) Run(s *session) error {
	return changeToggle(s, c.Name, (*operator.Operator).SetArchived, true, "archived")
}

func (c *restoreToggleCmd) Run(s *session) error {
	return changeToggle(s, c.Name, (*operator.Operator).SetArchived, false, "not archived")
}

func (c *staleToggleCmd) Run(s *session) error {
	if c.Undo {
		return changeToggle(s, c.Name, (*operator.Operator).SetStale, false, "not marked as stale")
	}
	return changeToggle(s, c.Name, (*operator.Operator).SetStale, true, "marked as stale")
}

// set is a switch of a toggle.
type set func(o *operator.Operator, ctx context.Context, name string, to bool) (operator.Toggle, bool, error)

func changeToggle(s *session, name string, set set, to bool, is string) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	t, changed, err := set(o, ctx, name, to)
	if err != nil {
		return err
	}
	if !changed {
		return s.result(toggleChange{t, false}, "%s is %s already, nothing was changed", t.Name, is)
	}
	return s.result(toggleChange{t, true}, "%s is %s", t.Name, is)
}

// deletedToggle is what delete prints as JSON.
type deletedToggle struct {
	Deleted operator.Toggle `json:"deleted"`
}

func (c *deleteToggleCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	t, err := o.Toggle(ctx, c.Name)
	if err != nil {
		return err
	}
	if err := s.confirm("Delete the toggle %s (%s, project %s) for good?", t.Name, stateOf(&t), t.Project); err != nil {
		return err
	}
	ctx, cancel = s.work()
	defer cancel()
	if err := o.DeleteToggle(ctx, c.Name); err != nil {
		return err
	}
	return s.result(deletedToggle{t}, "deleted %s", t.Name)
}
