package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/toggle"
)

// toggleFilter selects toggles by their properties.
type toggleFilter struct {
	Project   string   `placeholder:"NAME" help:"Only toggles of this project."`
	Type      string   `placeholder:"ID" help:"Only toggles of this type."`
	State     *string  `enum:"active,potentially-stale,stale,archived" placeholder:"STATE" help:"Only active, potentially-stale, stale or archived toggles."`
	OlderThan lifetime `placeholder:"TIME" help:"Only toggles that were created before this time, such as 365d."`
	UnusedFor lifetime `placeholder:"TIME" help:"Only toggles that no application has used in this time, such as 30d, and that were created before."`
	Name      string   `placeholder:"PATTERN" help:"Only toggles whose name matches a pattern, such as 'checkout-*'."`
	Status    status   `placeholder:"ENVIRONMENT:enabled|disabled" help:"Only toggles that are on or off in an environment, such as production:enabled."`
	Segment   string   `placeholder:"NAME" help:"Only toggles with a strategy that uses this segment."`
	Tag       tag      `placeholder:"TYPE:VALUE" help:"Only toggles with this tag, such as simple:checkout."`
	Owner     string   `placeholder:"OWNER" help:"Only toggles of this owner: a name, user: or group: and an id, or none."`
}

// status is whether a toggle is on in an environment, as in the search of the API.
type status struct {
	environment string
	enabled     bool
}

// UnmarshalText is called by kong.
func (s *status) UnmarshalText(text []byte) error {
	environment, state, _ := strings.Cut(string(text), ":")
	if environment == "" || state != "enabled" && state != "disabled" {
		return fmt.Errorf("%q is not a status: use one such as production:enabled or production:disabled", text)
	}
	*s = status{environment, state == "enabled"}
	return nil
}

// tag is the text of a tag.
type tag string

// UnmarshalText is called by kong.
func (t *tag) UnmarshalText(text []byte) error {
	if _, ok := toggle.ParseTag(string(text)); !ok {
		return fmt.Errorf("%q is not a tag: use its type and its value, such as simple:checkout", text)
	}
	*t = tag(text)
	return nil
}

// Validate is called by kong.
func (f *toggleFilter) Validate() error {
	if _, err := path.Match(f.Name, ""); err != nil {
		return fmt.Errorf("--name: %q is not a pattern: use * for any characters and ? for one, such as 'checkout-*'", f.Name)
	}
	return nil
}

// matcher returns the condition on toggles. It returns an error if there is no such environment or segment.
func (f *toggleFilter) matcher(s *session, o manager) (func(operator.Toggle) bool, error) {
	all := func(operator.Toggle) bool { return true }
	hasStatus, usesSegment := all, all
	var err error
	if f.Status != (status{}) {
		if hasStatus, err = o.HasStatus(s.step(), f.Status.environment, f.Status.enabled); err != nil {
			return nil, err
		}
	}
	if f.Segment != "" {
		if usesSegment, err = o.UsesSegment(s.step(), f.Segment); err != nil {
			return nil, err
		}
	}
	now := s.now()
	return func(t operator.Toggle) bool { return f.matches(t, now) && hasStatus(t) && usesSegment(t) }, nil
}

func (f *toggleFilter) matches(t operator.Toggle, now time.Time) bool {
	given := func(filter, value string) bool { return filter == "" || filter == value }
	named, _ := path.Match(f.Name, t.Name) // Validate has checked the pattern
	return given(f.Project, t.Project) && given(f.Type, t.Type) && given(text(f.State), toggleState(&t)) &&
		(f.Name == "" || named) && (f.Owner == "" || t.OwnedBy(f.Owner)) && (f.Tag == "" || slices.Contains(t.Tags, string(f.Tag))) &&
		(f.OlderThan == 0 || t.CreatedBefore(now.Add(-time.Duration(f.OlderThan)))) &&
		(f.UnusedFor == 0 || t.UnusedSince(now.Add(-time.Duration(f.UnusedFor))))
}

// selection selects the toggles that a command changes.
type selection struct {
	toggleFilter

	Names  []string `arg:"" optional:"" name:"name" help:"Names of toggles. Without names, the options select them."`
	DryRun bool     `help:"Print what would change, and change nothing."`
}

// Validate is called by kong.
func (f *selection) Validate() error {
	if len(f.Names) == 0 && f.toggleFilter == (toggleFilter{}) {
		return fmt.Errorf("select the toggles: use their names, or options such as --state and --older-than")
	}
	return f.toggleFilter.Validate()
}

// toggles returns the selected toggles. Without names and without --state archived, archived toggles can only be
// revived.
func (f *selection) toggles(s *session, o manager, action operator.Action) ([]operator.Toggle, error) {
	matches, err := f.matcher(s, o)
	if err != nil {
		return nil, err
	}
	selected := []operator.Toggle{}
	if len(f.Names) > 0 {
		slices.Sort(f.Names)
		for _, name := range slices.Compact(f.Names) {
			t, err := o.Toggle(s.step(), name)
			if err != nil {
				return nil, err
			}
			if matches(t) {
				selected = append(selected, t)
			}
		}
		return selected, nil
	}
	all, err := o.Toggles(s.step())
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if matches(t) && (f.State != nil || t.Archived == (action == operator.Revive)) {
			selected = append(selected, t)
		}
	}
	if len(selected) == 0 {
		s.inform("%s", f.explainEmpty(all))
	}
	return selected, nil
}

// wording is how messages describe an action on toggles.
type wording struct {
	question string
	done     string
	state    string
}

func wordingOf(action operator.Action) wording {
	switch action {
	case operator.Archive:
		return wording{"Archive %s?", "archived", "archived"}
	case operator.Revive:
		return wording{"Revive %s?", "revived", "not archived"}
	case operator.MarkStale:
		return wording{"Mark %s as stale?", "marked as stale", "marked as stale"}
	case operator.UnmarkStale:
	}
	return wording{"Remove the mark as stale from %s?", "unmarked", "not marked as stale"}
}

// unchanged returns the end of a sentence about a number of toggles that an action does not change.
func (w wording) unchanged(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d already %s", n, w.state)
}

// changeResult is the JSON output of a command that changes the state of toggles.
type changeResult struct {
	DryRun bool `json:"dryRun"`
	operator.ToggleChanges
}

// run changes the selected toggles. If it is interrupted or fails, what it has changed stays.
func (f *selection) run(s *session, o manager, action operator.Action) error {
	selected, err := f.toggles(s, o, action)
	if err != nil {
		return err
	}
	result := changeResult{DryRun: f.DryRun}
	var names []string
	for _, t := range selected {
		if action.Changes(t) {
			names = append(names, t.Name)
		} else {
			result.Unchanged = append(result.Unchanged, t.Name)
		}
	}
	if f.DryRun {
		result.Changed = names
		return s.printChanges(result, action)
	}
	if len(names) > 1 {
		if err := s.confirm(wordingOf(action).question, listed(names)); err != nil {
			return err
		}
	}
	err = s.changeToggles(o, names, action, &result.ToggleChanges)
	if printing := s.printChanges(result, action); err == nil {
		err = printing
	}
	return err
}

// maxListed is the number of names in a question.
const maxListed = 5

// listed returns the number of toggles and the first names.
func listed(names []string) string {
	first, rest := names, ""
	if len(names) > maxListed {
		first, rest = names[:maxListed], fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return fmt.Sprintf("%s (%s%s)", count(len(names), "toggle"), strings.Join(first, ", "), rest)
}

// changeToggles changes toggles with as few transactions as possible, and adds to the result what was done.
func (s *session) changeToggles(o manager, names []string, action operator.Action,
	result *operator.ToggleChanges) error {
	progress := s.newProgress()
	defer progress.clear()
	done := 0
	for some := range slices.Chunk(names, operator.MaxToggles) {
		progress.show("toggles", done, len(names))
		changes, err := o.ChangeToggles(s.step(), some, action)
		result.Add(changes)
		if s.ctx.Err() != nil {
			return exitstatus.Errorf(exitstatus.Failure,
				"interrupted: what was changed stays; repeat the command to change the rest")
		}
		if err != nil {
			return err
		}
		done += len(some)
	}
	return result.Err()
}

// printChanges prints the result of a change of toggles.
func (s *session) printChanges(r changeResult, action operator.Action) error {
	if s.JSON {
		r.Changed, r.Unchanged = orEmpty(r.Changed), orEmpty(r.Unchanged)
		r.Failed = orEmpty(r.Failed)
		return printJSON(s.out, r)
	}
	words := wordingOf(action)
	var lines []string
	if r.DryRun {
		for _, name := range r.Changed {
			lines = append(lines, name+" would be "+words.done)
		}
	}
	switch {
	case len(r.Changed)+len(r.Unchanged) == 0: // nothing was selected, or all have failed
	case r.DryRun:
		lines = append(lines, fmt.Sprintf("%s would be %s%s; nothing was changed (--dry-run)",
			count(len(r.Changed), "toggle"), words.done, words.unchanged(len(r.Unchanged))))
	case len(r.Changed) == 1 && len(r.Unchanged) == 0:
		lines = append(lines, r.Changed[0]+" is "+words.state)
	case len(r.Changed) == 0 && len(r.Unchanged) == 1:
		lines = append(lines, r.Unchanged[0]+" is already "+words.state+"; nothing was changed")
	default:
		lines = append(lines, fmt.Sprintf("%s %s%s", count(len(r.Changed), "toggle"), words.done,
			words.unchanged(len(r.Unchanged))))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.out, printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// orEmpty returns a list that JSON shows as [] if it is empty.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
