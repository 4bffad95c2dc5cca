package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/toggle"
)

type featuresCmd struct {
	apiOptions

	List    listTogglesCmd    `cmd:"" help:"List the toggles."`
	Get     getToggleCmd      `cmd:"" help:"Print all properties of a toggle."`
	Put     putToggleCmd      `cmd:"" help:"Create a toggle, or change the given properties."`
	Archive archiveTogglesCmd `cmd:"" help:"Archive toggles."`
	Revive  reviveTogglesCmd  `cmd:"" help:"Revive archived toggles."`
	On      turnOnCmd         `cmd:"" help:"Turn a toggle on in an environment."`
	Off     turnOffCmd        `cmd:"" help:"Turn a toggle off in an environment."`
	Stale   staleTogglesCmd   `cmd:"" help:"Mark toggles as stale, or remove the mark."`
	Delete  deleteToggleCmd   `cmd:"" help:"Delete a toggle."`
}

type (
	listTogglesCmd struct{ toggleFilter }
	getToggleCmd   struct{ toggleName }
	putToggleCmd   struct {
		toggleName

		Project         *string  `placeholder:"NAME" help:"Project (for a new toggle: default)."`
		Type            *string  `placeholder:"ID" help:"Type (for a new toggle: release)."`
		Description     *string  `placeholder:"TEXT" xor:"description" help:"What the toggle is for."`
		NoDescription   bool     `xor:"description" help:"Remove the description."`
		ImpressionData  *bool    `negatable:"" help:"Whether applications report impressions of the toggle."`
		ContextField    []string `sep:"none" placeholder:"NAME" xor:"fields" help:"Context field of the toggle. Repeat for more. Replaces all."`
		NoContextFields bool     `xor:"fields" help:"The toggle uses no context fields."`

		Owner      owner   `placeholder:"OWNER" xor:"owner" help:"Who decides what becomes of the toggle: user: or group: and an id, or text: and a text."`
		NoOwner    bool    `xor:"owner" help:"Only the Owners of the project decide."`
		KeepUntil  *string `placeholder:"DATE" xor:"keep" help:"Date from which on the toggle can be proposed for removal again, such as 2027-01-31."`
		KeepReason *string `placeholder:"TEXT" xor:"reason" help:"Why the toggle is kept."`
		NoKeep     bool    `xor:"keep,reason" help:"The toggle can be proposed for removal at any time."`
	}
	archiveTogglesCmd struct{ selection }
	reviveTogglesCmd  struct{ selection }
	staleTogglesCmd   struct {
		selection

		Undo bool `help:"Remove the mark."`
	}
	turnOnCmd           struct{ toggleInEnvironment }
	turnOffCmd          struct{ toggleInEnvironment }
	deleteToggleCmd     struct{ toggleName }
	toggleInEnvironment struct {
		toggleName

		Environment string `required:"" placeholder:"NAME" help:"Environment."`
	}
	toggleName struct {
		Name string `arg:"" help:"Name of the toggle."`
	}
)

// owner is the text of an owner.
type owner struct{ *toggle.Owner }

// UnmarshalText is called by kong.
func (o *owner) UnmarshalText(text []byte) error {
	parsed, ok := toggle.ParseOwner(string(text))
	if !ok {
		return fmt.Errorf("%q is not an owner: use one such as user:7, group:3 or 'text:Checkout team'", text)
	}
	o.Owner = &parsed
	return nil
}

// Validate is called by kong.
func (c *putToggleCmd) Validate() error {
	if c.KeepUntil != nil {
		if _, err := toggle.ParseDay(*c.KeepUntil); err != nil {
			return fmt.Errorf("--keep-until: %q %w", *c.KeepUntil, err)
		}
	}
	return nil
}

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

func (c *listTogglesCmd) Run(s *session, o manager) error {
	matches, err := c.matcher(s, o)
	if err != nil {
		return err
	}
	all, err := o.Toggles(s.step())
	if err != nil {
		return err
	}
	toggles := []operator.Toggle{}
	for _, t := range all {
		if matches(t) {
			toggles = append(toggles, t)
		}
	}
	if len(toggles) == 0 {
		s.inform("%s", c.explainEmpty(all))
	}
	return printList(s, toggles, []column[operator.Toggle]{
		{name: "NAME", cell: func(t operator.Toggle) string { return t.Name }, cut: cutLast, isName: true},
		{name: "STATE", cell: func(t operator.Toggle) string { return toggleState(&t) }},
		{name: "TYPE", cell: func(t operator.Toggle) string { return t.Type }, cut: cutLast},
		{name: "PROJECT", cell: func(t operator.Toggle) string { return t.Project }, cut: cutLast},
		{name: "OWNER", cell: operator.Toggle.OwnerName, cut: cutLast},
		{name: "CREATED", cell: func(t operator.Toggle) string { return s.relative(&t.CreatedAt) }},
		{name: "LAST USED", cell: func(t operator.Toggle) string { return s.relative(t.LastSeenAt) }},
		{name: "FIELDS", cell: func(t operator.Toggle) string { return strconv.Itoa(len(t.ContextFields)) }},
		{name: "ON IN", cell: operator.Toggle.OnIn, cut: cutFirst},
	})
}

// explainEmpty says why no toggle matches.
func (f *toggleFilter) explainEmpty(all []operator.Toggle) string {
	for _, filter := range []struct {
		what, value string
		of          func(operator.Toggle) string
	}{
		{"project", f.Project, func(t operator.Toggle) string { return t.Project }},
		{"type", f.Type, func(t operator.Toggle) string { return t.Type }},
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

func (c *putToggleCmd) Run(s *session, o manager) error {
	change := operator.ToggleChange{
		Project: c.Project, Type: c.Type, Description: c.Description, ImpressionData: c.ImpressionData,
		Owner: c.Owner.Owner, NoOwner: c.NoOwner, KeepUntil: c.KeepUntil, KeepReason: c.KeepReason,
	}
	if c.NoKeep {
		change.KeepUntil = new("")
	}
	if c.NoDescription {
		change.Description = new("")
	}
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

func (c *getToggleCmd) Run(s *session, o manager) error {
	t, err := o.ToggleDetails(s.step(), c.Name)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, t)
	}
	properties := [][2]string{
		{"Name", t.Name},
		{"Project", t.Project},
		{"Type", t.Type},
		{"State", toggleState(&t.Toggle)},
		{"Description", text(t.Description)},
		{"Impression data", yesNo(t.ImpressionData)},
		{"Context fields", strings.Join(t.ContextFields, " ")},
		{"Segments", strings.Join(t.Segments, ", ")},
		{"Tags", strings.Join(t.Tags, ", ")},
		{"Owner", t.Toggle.OwnerName()},
		{"Kept until", text(t.KeepUntil)},
		{"Kept because", text(t.KeepReason)},
		{"Created", localTime(&t.CreatedAt)},
		{"Created by", creatorText(t.CreatedBy)},
		{"Potentially stale", localTime(t.PotentiallyStaleAt)},
		{"Archived", localTime(t.ArchivedAt)},
		{"Last used", localTime(t.LastSeenAt)},
	}
	for _, e := range t.Environments {
		properties = append(properties, [2]string{"In " + e.Name, environmentText(e)})
	}
	return s.printProperties(properties)
}

func environmentText(e operator.ToggleEnvironment) string {
	state := onOff(e.Enabled)
	if e.Strategies == 1 {
		return state + ", 1 strategy"
	}
	return fmt.Sprintf("%s, %d strategies", state, e.Strategies)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func creatorText(c *operator.Creator) string {
	switch {
	case c == nil:
		return ""
	case c.ID == 0: // in another system
		return c.Name
	}
	return fmt.Sprintf("%s (%d)", c.Name, c.ID)
}

func (c *archiveTogglesCmd) Run(s *session, o manager) error {
	return c.run(s, o, operator.Archive)
}

func (c *reviveTogglesCmd) Run(s *session, o manager) error {
	return c.run(s, o, operator.Revive)
}

func (c *staleTogglesCmd) Run(s *session, o manager) error {
	if c.Undo {
		return c.run(s, o, operator.UnmarkStale)
	}
	return c.run(s, o, operator.MarkStale)
}

func (c *turnOnCmd) Run(s *session, o manager) error {
	return turn(s, o, c.toggleInEnvironment, true)
}

func (c *turnOffCmd) Run(s *session, o manager) error {
	return turn(s, o, c.toggleInEnvironment, false)
}

func turn(s *session, o manager, t toggleInEnvironment, on bool) error {
	result, err := o.SwitchToggle(s.step(), t.Name, t.Environment, on)
	if err != nil {
		return err
	}
	return s.stateResult(result, result.Changed, result.Name, onOff(on)+" in "+result.Environment)
}

func (c *deleteToggleCmd) Run(s *session, o manager) error {
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
