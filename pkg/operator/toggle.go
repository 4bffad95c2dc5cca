package operator

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
)

const (
	defaultProject = "default"
	defaultType    = "release"
	// maxContextFields limits the context fields of a toggle: replacing all of them must fit into a transaction of 100 writes.
	maxContextFields = 49
)

// validName accepts names that need no escaping in a URL.
var validName = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,100}$`)

// Toggle is a feature toggle.
type Toggle struct {
	Name             string   `json:"name"`
	Project          string   `json:"project"`
	Type             string   `json:"type"`
	CreatedAt        string   `json:"createdAt"`
	Archived         bool     `json:"archived"`
	Stale            bool     `json:"stale"`
	PotentiallyStale bool     `json:"potentiallyStale"`
	ContextFields    []string `json:"contextFields"`
}

func newToggle(f feature.Feature) Toggle {
	return Toggle{
		Name: f.Name, Project: f.Project, Type: f.Type, CreatedAt: datetime.Format(f.CreatedAt), Archived: f.Archived, Stale: f.Stale,
		PotentiallyStale: f.PotentiallyStale, ContextFields: append([]string{}, f.ContextFields...),
	}
}

// Toggles returns all toggles, ordered by name.
func (o *Operator) Toggles(ctx context.Context) ([]Toggle, error) {
	all, err := o.features.List(ctx)
	if err != nil {
		return nil, err
	}
	toggles := make([]Toggle, len(all))
	for i, f := range all {
		toggles[i] = newToggle(f)
	}
	return toggles, nil
}

// Toggle returns a toggle.
func (o *Operator) Toggle(ctx context.Context, name string) (Toggle, error) {
	f, err := o.features.Get(ctx, name)
	return newToggle(f), explainToggle(name, err)
}

// ToggleChange contains the new values of PutToggle. nil means no change; for a new toggle, the default.
type ToggleChange struct {
	Project, Type *string
	ContextFields *[]string
}

// PutToggle creates or changes a toggle.
func (o *Operator) PutToggle(ctx context.Context, name string, change ToggleChange) (t Toggle, created bool, err error) {
	if !validName.MatchString(name) || strings.Trim(name, ".") == "" {
		return Toggle{}, false, exitstatus.Errorf(exitstatus.Usage, "%q is not a valid name of a toggle: use 1 to 100 letters, digits and . _ ~ -", name)
	}
	// A new toggle consists of the defaults and the change.
	f := feature.Feature{Name: name, Project: defaultProject, Type: defaultType, CreatedAt: datetime.Milliseconds(o.now())}
	if change.Project != nil {
		if f.Project, err = CheckText("project", *change.Project); err != nil {
			return Toggle{}, false, err
		}
	}
	if change.Type != nil {
		f.Type = featuretype.NormalID(*change.Type)
		if err := o.checkType(ctx, f.Type); err != nil {
			return Toggle{}, false, err
		}
	}
	if change.ContextFields != nil {
		if f.ContextFields = *change.ContextFields; len(f.ContextFields) > maxContextFields {
			return Toggle{}, false, exitstatus.Errorf(exitstatus.Usage, "a toggle uses at most %d context fields, not %d",
				maxContextFields, len(f.ContextFields))
		}
		if err := o.checkFields(ctx, f.ContextFields); err != nil {
			return Toggle{}, false, err
		}
	}
	for {
		updated, err := o.features.Update(ctx, name, func(current feature.Feature) feature.Feature {
			if change.Project != nil {
				current.Project = f.Project
			}
			if change.Type != nil {
				current.Type = f.Type
			}
			if change.ContextFields != nil {
				current.ContextFields = f.ContextFields
			}
			return current
		})
		if !errors.Is(err, feature.ErrNotFound) {
			return newToggle(updated), false, err
		}
		err = o.features.Create(ctx, f)
		if errors.Is(err, feature.ErrExists) { // created concurrently
			continue
		}
		if err != nil {
			return Toggle{}, false, err
		}
		t, err = o.Toggle(ctx, name)
		return t, true, err
	}
}

// SetArchived archives or restores a toggle. changed is false if it already was.
func (o *Operator) SetArchived(ctx context.Context, name string, archived bool) (t Toggle, changed bool, err error) {
	return o.update(ctx, name, func(f *feature.Feature) { f.Archived = archived })
}

// SetStale marks a toggle as stale or removes the mark. changed is false if it already was.
func (o *Operator) SetStale(ctx context.Context, name string, stale bool) (t Toggle, changed bool, err error) {
	return o.update(ctx, name, func(f *feature.Feature) { f.Stale = stale })
}

func (o *Operator) update(ctx context.Context, name string, set func(*feature.Feature)) (t Toggle, changed bool, err error) {
	f, err := o.features.Update(ctx, name, func(f feature.Feature) feature.Feature {
		archived, stale := f.Archived, f.Stale
		set(&f)
		changed = f.Archived != archived || f.Stale != stale
		return f
	})
	return newToggle(f), changed, explainToggle(name, err)
}

// DeleteToggle deletes a toggle.
func (o *Operator) DeleteToggle(ctx context.Context, name string) error {
	return explainToggle(name, o.features.Delete(ctx, name))
}

func explainToggle(name string, err error) error {
	if errors.Is(err, feature.ErrNotFound) {
		return exitstatus.Errorf(exitstatus.NotFound, "there is no toggle with the name %q", name)
	}
	return err
}

func (o *Operator) checkType(ctx context.Context, id string) error {
	all, err := o.types.List(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	return checkKnown("feature type", id, ids)
}

func (o *Operator) checkFields(ctx context.Context, names []string) error {
	all, err := o.fields.List(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(all))
	for i, f := range all {
		known[i] = f.Name
	}
	for _, name := range names {
		if err := checkKnown("context field", name, known); err != nil {
			return err
		}
	}
	return nil
}

func checkKnown(what, name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return exitstatus.Errorf(exitstatus.NotFound, "there is no %s %q: there are %s", what, name, strings.Join(known, ", "))
}
