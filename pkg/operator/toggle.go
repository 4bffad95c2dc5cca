package operator

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/outcome"
)

const (
	// What a new toggle has where nothing else is said.
	defaultProject = "default"
	defaultType    = "release"
	// mostFields is how many context fields a toggle may use: a step from as many to as many others is one transaction of at most 100 writes.
	mostFields = 49
	nameLength = 100
)

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

func toggleOf(f feature.Feature) Toggle {
	fields := f.ContextFields
	if fields == nil {
		fields = []string{}
	}
	return Toggle{
		Name: f.Name, Project: f.Project, Type: f.Type, CreatedAt: datetime.Format(f.CreatedAt), Archived: f.Archived, Stale: f.Stale,
		PotentiallyStale: f.PotentiallyStale, ContextFields: fields,
	}
}

// Toggles lists all toggles by name.
func (o *Operator) Toggles(ctx context.Context) ([]Toggle, error) {
	all, err := o.features.List(ctx)
	if err != nil {
		return nil, err
	}
	toggles := make([]Toggle, len(all))
	for i, f := range all {
		toggles[i] = toggleOf(f)
	}
	return toggles, nil
}

// Toggle gives one toggle.
func (o *Operator) Toggle(ctx context.Context, name string) (Toggle, error) {
	f, err := o.features.Get(ctx, name)
	if err != nil {
		return Toggle{}, noToggle(name, err)
	}
	return toggleOf(f), nil
}

// ToggleChange is what Put sets; nil leaves it as it is, or as it is on a new toggle.
type ToggleChange struct {
	Project, Type *string
	ContextFields *[]string
}

// Put makes a toggle, or changes the members that are given of one that is there; created says which.
func (o *Operator) Put(ctx context.Context, name string, change ToggleChange) (t Toggle, created bool, err error) {
	if err := o.check(ctx, name, &change); err != nil {
		return Toggle{}, false, err
	}
	apply := func(f feature.Feature) feature.Feature {
		if change.Project != nil {
			f.Project = *change.Project
		}
		if change.Type != nil {
			f.Type = *change.Type
		}
		if change.ContextFields != nil {
			f.ContextFields = *change.ContextFields
		}
		return f
	}
	for {
		f, err := o.features.Update(ctx, name, apply)
		if !errors.Is(err, feature.ErrNotFound) {
			return toggleOf(f), false, err
		}
		f = apply(feature.Feature{Name: name, Project: defaultProject, Type: defaultType, CreatedAt: datetime.Milliseconds(o.now())})
		if change.Type == nil {
			if err := o.checkType(ctx, &f.Type); err != nil {
				return Toggle{}, false, err
			}
		}
		err = o.features.Create(ctx, f)
		if errors.Is(err, feature.ErrExists) { // made since: change that one
			continue
		}
		if err != nil {
			return Toggle{}, false, err
		}
		t, err := o.Toggle(ctx, name)
		return t, true, err
	}
}

// SetArchived archives a toggle or restores it; changed is false where it was so already. Either clears its flag.
func (o *Operator) SetArchived(ctx context.Context, name string, archived bool) (t Toggle, changed bool, err error) {
	return o.update(ctx, name, func(f *feature.Feature) { f.Archived = archived })
}

// SetStale marks a toggle as stale or takes the mark away; changed is false where it was so already. Either clears its flag.
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
	if err != nil {
		return Toggle{}, false, noToggle(name, err)
	}
	return toggleOf(f), changed, nil
}

// DeleteToggle deletes a toggle for good.
func (o *Operator) DeleteToggle(ctx context.Context, name string) error {
	return noToggle(name, o.features.Delete(ctx, name))
}

func noToggle(name string, err error) error {
	if errors.Is(err, feature.ErrNotFound) {
		return outcome.New(outcome.NotFound, "there is no toggle with the name %q", name)
	}
	return err
}

// check refuses a change that names what is not there.
func (o *Operator) check(ctx context.Context, name string, change *ToggleChange) error {
	// What other tools of this kind allow, so that a name fits into a URL.
	if !regexp.MustCompile(`^[A-Za-z0-9._~-]+$`).MatchString(name) || len(name) > nameLength || strings.Trim(name, ".") == "" {
		return outcome.New(outcome.Usage, "%q is no name of a toggle: use letters, digits and . _ ~ -, at most %d of them", name, nameLength)
	}
	if change.Project != nil {
		project, err := CheckText("project", *change.Project)
		if err != nil {
			return err
		}
		change.Project = &project
	}
	if change.Type != nil {
		id := *change.Type
		if err := o.checkType(ctx, &id); err != nil {
			return err
		}
		change.Type = &id
	}
	if change.ContextFields != nil {
		return o.checkFields(ctx, *change.ContextFields)
	}
	return nil
}

// checkType brings the id of a type into the form that it is stored in.
func (o *Operator) checkType(ctx context.Context, id *string) error {
	all, err := o.types.List(ctx)
	if err != nil {
		return err
	}
	*id = featuretype.NormalID(*id)
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	if !slices.Contains(ids, *id) {
		return outcome.New(outcome.NotFound, "there is no feature type with the id %q: there are %s", *id, strings.Join(ids, ", "))
	}
	return nil
}

func (o *Operator) checkFields(ctx context.Context, names []string) error {
	if len(names) > mostFields {
		return outcome.New(outcome.Usage, "a toggle may use %d context fields at most, not %d", mostFields, len(names))
	}
	all, err := o.fields.List(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(all))
	for i, f := range all {
		known[i] = f.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return outcome.New(outcome.NotFound, "there is no context field with the name %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
