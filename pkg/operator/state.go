package operator

import (
	"context"
	"errors"
	"strings"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// Action is a change of the state of a toggle.
type Action int

// The actions.
const (
	Archive Action = iota
	Revive
	MarkStale
	UnmarkStale
)

// Changes reports whether the action changes a toggle.
func (a Action) Changes(t Toggle) bool {
	f := toggle.Feature{Archived: t.Archived, Stale: t.Stale}
	a.apply(&f)
	return f.Archived != t.Archived || f.Stale != t.Stale
}

func (a Action) apply(f *toggle.Feature) {
	switch a {
	case Archive:
		*f = feature.Archived(*f)
	case Revive:
		*f = feature.Revived(*f, false)
	case MarkStale, UnmarkStale:
		f.Stale = a == MarkStale
	}
}

// MaxToggles is the maximum number of toggles of ChangeToggles, as in the API.
const MaxToggles = 50

// ToggleChanges is the result of a change of several toggles, by their names.
type ToggleChanges struct {
	Changed   []string        `json:"changed"`
	Unchanged []string        `json:"unchanged"` // they had the state already
	Failed    []ToggleFailure `json:"failed"`
}

// ToggleFailure is a toggle that could not be changed.
type ToggleFailure struct {
	Name  string `json:"name"`
	Error string `json:"error"`

	err error
}

// Add adds the result of another change.
func (c *ToggleChanges) Add(other ToggleChanges) {
	c.Changed = append(c.Changed, other.Changed...)
	c.Unchanged = append(c.Unchanged, other.Unchanged...)
	c.Failed = append(c.Failed, other.Failed...)
}

// Err returns an error that names the toggles that could not be changed, or nil. It has the status of the first one.
func (c *ToggleChanges) Err() error {
	if len(c.Failed) == 0 {
		return nil
	}
	texts := make([]string, len(c.Failed))
	for i, f := range c.Failed {
		texts[i] = f.Error
	}
	return exitstatus.Errorf(exitstatus.Of(c.Failed[0].err), "%s", strings.Join(texts, "\n"))
}

// ChangeToggles carries out an action on at most MaxToggles toggles with different names. A transaction changes as many
// as it can. Failed contains a toggle that does not exist, or that cannot be revived because one of its context fields
// does not exist. The result is valid even with an error. If the call fails, it can be repeated.
func (o *Operator) ChangeToggles(ctx context.Context, names []string, action Action) (ToggleChanges, error) {
	before := map[string]int64{}
	all, err := o.features.UpdateAll(ctx, names, func(f toggle.Feature) (toggle.Feature, error) {
		before[f.Name] = f.LastEvent
		action.apply(&f)
		return f, nil
	})
	result := ToggleChanges{}
	for _, f := range all {
		if f.LastEvent == before[f.Name] {
			result.Unchanged = append(result.Unchanged, f.Name)
		} else {
			result.Changed = append(result.Changed, f.Name)
		}
	}
	kind := apierror.KindOf(err)
	ofOne := kind == apierror.NotFound || kind == apierror.Conflict // the error is about one of the toggles
	switch {
	case ofOne && len(names) == 1:
		explained := exitstatus.Explain(err)
		if kind == apierror.Conflict { // its message does not name the toggle
			explained = exitstatus.Errorf(exitstatus.Rejected, "toggle %q: %v", names[0], explained)
		}
		result.Failed = []ToggleFailure{{names[0], explained.Error(), explained}}
		return result, nil
	case ofOne || errors.Is(err, feature.ErrTooManyChanges):
		return o.changeHalves(ctx, names, action)
	}
	return result, err
}

// changeHalves is ChangeToggles for toggles that one transaction cannot change.
func (o *Operator) changeHalves(ctx context.Context, names []string, action Action) (ToggleChanges, error) {
	result := ToggleChanges{}
	for _, half := range [][]string{names[:len(names)/2], names[len(names)/2:]} {
		changes, err := o.ChangeToggles(ctx, half, action)
		result.Add(changes)
		if err != nil {
			return result, err
		}
	}
	return result, nil
}
