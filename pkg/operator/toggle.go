package operator

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// Toggle is a feature toggle.
type Toggle struct {
	Name             string        `json:"name"`
	Project          string        `json:"project"`
	Type             string        `json:"type"`
	Description      *string       `json:"description"`
	ImpressionData   bool          `json:"impressionData"`
	CreatedAt        string        `json:"createdAt"`
	CreatedBy        *Creator      `json:"createdBy"` // null: unknown
	Archived         bool          `json:"archived"`
	ArchivedAt       *string       `json:"archivedAt"`
	Stale            bool          `json:"stale"`
	PotentiallyStale bool          `json:"potentiallyStale"`
	ContextFields    []string      `json:"contextFields"`
	Tags             []string      `json:"tags"`      // type and value, such as simple:checkout
	Owner            *toggle.Owner `json:"owner"`     // null: the Owners of its project
	KeepUntil        *string       `json:"keepUntil"` // a date; null: it is not kept
	KeepReason       *string       `json:"keepReason"`
	Links            []toggle.Link `json:"links"`
	LastSeenAt       *string       `json:"lastSeenAt"` // when applications last used it, in any environment; null: never

	enabledIn    []string // environments
	environments []string // of the project; set by Remote
	segments     []int64
}

// Creator is who created a toggle.
type Creator struct {
	ID   int64  `json:"id"` // of the user; 0: the toggle was created in another system
	Name string `json:"name"`
}

// CreatedBefore reports whether the toggle was created at the given time or before.
func (t Toggle) CreatedBefore(at time.Time) bool { return t.CreatedAt <= datetime.Format(at) }

// UnusedSince reports whether no application has used the toggle since the given time. A toggle that was created
// later was not unused for so long.
func (t Toggle) UnusedSince(at time.Time) bool {
	return t.CreatedBefore(at) && (t.LastSeenAt == nil || *t.LastSeenAt <= datetime.Format(at))
}

// OnIn returns the names of the environments in which the toggle is on, separated by commas. An archived toggle is off.
func (t Toggle) OnIn() string {
	if t.Archived {
		return ""
	}
	return strings.Join(t.enabledIn, ", ")
}

func newToggle(f toggle.Feature) Toggle {
	t := Toggle{
		Name:             f.Name,
		Project:          f.Project,
		Type:             f.Type,
		Description:      f.Description,
		ImpressionData:   f.ImpressionData,
		CreatedAt:        datetime.Format(f.CreatedAt),
		Archived:         f.Archived,
		ArchivedAt:       datetime.FormatOptional(f.ArchivedAt),
		Stale:            f.Stale,
		PotentiallyStale: f.PotentiallyStale,
		ContextFields:    append([]string{}, f.ContextFields...),
		Tags:             []string{},
		Owner:            f.Owner,
		Links:            append([]toggle.Link{}, f.Links...),
		LastSeenAt:       datetime.FormatOptional(f.LastSeenAt()),
		enabledIn:        f.EnabledEnvironments(),
		segments:         f.Segments(),
	}
	if f.Keep != nil {
		t.KeepUntil = new(f.Keep.Day())
		if f.Keep.Reason != "" {
			t.KeepReason = &f.Keep.Reason
		}
	}
	for _, tag := range f.Tags {
		t.Tags = append(t.Tags, tag.String())
	}
	if f.CreatedBy != nil {
		t.CreatedBy = &Creator{f.CreatedBy.ID, f.CreatedBy.Name}
	}
	return t
}

// OwnedBy reports whether the owner of the toggle has a name, or is what a text such as group:3 or none names.
func (t Toggle) OwnedBy(text string) bool {
	return (toggle.Feature{Owner: t.Owner}).OwnerName() == text || t.Owner != nil && t.Owner.Name == text
}

// OwnerName returns the name of the owner, or an empty text.
func (t Toggle) OwnerName() string {
	if t.Owner == nil {
		return ""
	}
	return t.Owner.Name
}

// named sets the names of the users who created toggles, and of their owners.
func (o *Operator) named(ctx context.Context, toggles []Toggle) error {
	var ids, groups []int64
	for _, t := range toggles {
		if t.CreatedBy != nil && t.CreatedBy.ID != 0 {
			ids = append(ids, t.CreatedBy.ID)
		}
		switch {
		case t.Owner == nil:
		case t.Owner.Kind == toggle.OwnerUser:
			ids = append(ids, t.Owner.ID)
		case t.Owner.Kind == toggle.OwnerGroup:
			groups = append(groups, t.Owner.ID)
		}
	}
	groupNames, err := o.access.GroupNames(ctx, groups)
	if err != nil {
		return err
	}
	names, err := o.names.Of(ctx, ids)
	if err != nil {
		return err
	}
	for _, t := range toggles {
		if t.CreatedBy != nil && t.CreatedBy.ID != 0 {
			t.CreatedBy.Name = names[t.CreatedBy.ID]
		}
		if t.Owner != nil {
			*t.Owner = feature.NamedOwner(*t.Owner, names, groupNames)
		}
	}
	return nil
}

// show returns a toggle with the name of its creator.
func (o *Operator) show(ctx context.Context, f toggle.Feature, err error) (Toggle, error) {
	if err != nil {
		return Toggle{}, exitstatus.Explain(err)
	}
	t := newToggle(f)
	return t, o.named(ctx, []Toggle{t})
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
	return toggles, o.named(ctx, toggles)
}

// Toggle returns a toggle.
func (o *Operator) Toggle(ctx context.Context, name string) (Toggle, error) {
	f, err := o.features.Get(ctx, name)
	return o.show(ctx, f, err)
}

// ToggleDetails is a toggle with its state in the environments, and with what depends on its type.
type ToggleDetails struct {
	Toggle

	PotentiallyStaleAt *string             `json:"potentiallyStaleAt"` // null: never
	Environments       []ToggleEnvironment `json:"environments"`       // those of the project
	Segments           []string            `json:"segments"`           // names of those that its strategies use
}

// ToggleEnvironment is the state of a toggle in an environment.
type ToggleEnvironment struct {
	Name       string `json:"name"`
	Enabled    bool   `json:"enabled"`
	Strategies int    `json:"strategies"` // number of strategies, with those that are disabled
}

// ToggleDetails returns a toggle, its state in the environments, and when it becomes or became potentially stale.
func (o *Operator) ToggleDetails(ctx context.Context, name string) (ToggleDetails, error) {
	f, err := o.features.Get(ctx, name)
	if err != nil {
		return ToggleDetails{}, exitstatus.Explain(err)
	}
	kind, _, err := o.features.Type(ctx, f.Type)
	if err != nil {
		return ToggleDetails{}, err
	}
	t, err := o.show(ctx, f, nil)
	if err != nil {
		return ToggleDetails{}, err
	}
	d := ToggleDetails{
		Toggle:             t,
		PotentiallyStaleAt: datetime.FormatOptional(f.PotentiallyStaleAt(kind.LifetimeDays)),
		Environments:       []ToggleEnvironment{},
		Segments:           []string{},
	}
	project, err := o.projects.Get(ctx, f.Project)
	if err := apierror.IgnoreNotFound(err); err != nil {
		return ToggleDetails{}, err
	}
	environments, err := o.environments.List(ctx)
	if err != nil {
		return ToggleDetails{}, err
	}
	for _, e := range environments {
		if !project.HasEnvironment(e.Name) {
			continue
		}
		state := f.Environments[e.Name]
		d.Environments = append(d.Environments, ToggleEnvironment{e.Name, state.Enabled, len(state.Strategies)})
	}
	segments, err := o.segments.List(ctx)
	if err != nil {
		return ToggleDetails{}, err
	}
	for _, s := range segments {
		if slices.Contains(d.segments, s.ID) {
			d.Segments = append(d.Segments, s.Name)
		}
	}
	slices.Sort(d.Segments)
	return d, nil
}

// HasStatus returns a condition on toggles: whether they are on, or off, in an environment.
func (o *Operator) HasStatus(ctx context.Context, environment string, on bool) (func(Toggle) bool, error) {
	if err := o.CheckEnvironment(ctx, environment); err != nil {
		return nil, err
	}
	projects, err := o.projects.List(ctx)
	if err != nil {
		return nil, err
	}
	has := access.HaveEnvironments(projects)
	return func(t Toggle) bool {
		return has(t.Project, environment) && slices.Contains(t.enabledIn, environment) == on
	}, nil
}

// UsesSegment returns a condition on toggles: whether their strategies use the segment with the name.
func (o *Operator) UsesSegment(ctx context.Context, name string) (func(Toggle) bool, error) {
	all, err := o.segments.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name == name {
			return func(t Toggle) bool { return slices.Contains(t.segments, s.ID) }, nil
		}
	}
	return nil, exitstatus.Errorf(exitstatus.NotFound, "there is no segment %q", name)
}

// ToggleChange contains the new values of PutToggle. nil means no change; for a new toggle, the default.
type ToggleChange struct {
	Project, Type  *string
	Description    *string // at most 1,000 characters; empty: none
	ImpressionData *bool
	ContextFields  *[]string

	Owner      *toggle.Owner
	NoOwner    bool    // not with Owner
	KeepUntil  *string // a date; empty: it is not kept
	KeepReason *string // empty: none
}

// ownership returns the part of a body of update-feature that says who decides what becomes of the toggle, and when.
func (c ToggleChange) ownership() jsonbody.Object {
	body := jsonbody.Object{}
	switch {
	case c.NoOwner:
		body["owner"] = nil
	case c.Owner != nil && c.Owner.Kind == toggle.OwnerText:
		body["owner"] = map[string]any{"kind": string(c.Owner.Kind), "name": c.Owner.Name}
	case c.Owner != nil:
		body["owner"] = map[string]any{"kind": string(c.Owner.Kind), "id": json.Number(strconv.FormatInt(c.Owner.ID, 10))}
	}
	for name, value := range map[string]*string{"keepUntil": c.KeepUntil, "keepReason": c.KeepReason} {
		if value == nil {
			continue
		}
		if body[name] = *value; *value == "" {
			body[name] = nil
		}
	}
	return body
}

// PutToggle creates or changes a toggle. created and changed are false if the toggle has this content already.
func (o *Operator) PutToggle(ctx context.Context, name string, change ToggleChange) (
	t Toggle, created, changed bool, err error,
) {
	if err := toggle.CheckFeatureName(name); err != nil {
		return Toggle{}, false, false, exitstatus.Errorf(exitstatus.Usage,
			"%q is not a valid name of a toggle: %v", name, err)
	}
	if err := o.validate(ctx, &change); err != nil {
		return Toggle{}, false, false, err
	}
	record, err := feature.ChangeOf(ctx, o.features.Reader, change.ownership())
	if err != nil {
		return Toggle{}, false, false, explainOwnership(err)
	}
	apply := func(f *toggle.Feature) (err error) {
		*f, err = record(*f)
		assign(&f.Project, change.Project)
		assign(&f.Type, change.Type)
		assign(&f.ImpressionData, change.ImpressionData)
		if change.Description != nil {
			f.Description = change.Description
			if *change.Description == "" {
				f.Description = nil
			}
		}
		assign(&f.ContextFields, change.ContextFields)
		return explainOwnership(err)
	}
	for {
		f, changed, err := o.set(ctx, name, apply)
		if apierror.KindOf(err) != apierror.NotFound {
			t, err := o.show(ctx, f, err)
			return t, false, changed, err
		}
		if change.Project != nil { // otherwise the toggle does not exist
			if _, err := o.projects.Get(ctx, *change.Project); err != nil {
				return Toggle{}, false, false, exitstatus.Explain(err)
			}
		}
		f = toggle.Feature{
			Name:      name,
			Project:   toggle.DefaultProject,
			Type:      toggle.DefaultType,
			CreatedAt: datetime.Milliseconds(o.now()),
		}
		if err := apply(&f); err != nil {
			return Toggle{}, false, false, err
		}
		if err := o.features.CheckLimit(ctx, o.installation.FeatureLimit); err != nil {
			return Toggle{}, false, false, exitstatus.Explain(err)
		}
		f, err = o.features.Create(ctx, f)
		if apierror.KindOf(err) == apierror.NameExists { // created concurrently
			continue
		}
		t, err := o.show(ctx, f, err)
		return t, true, false, err
	}
}

// explainOwnership names the options of a command in the error about an owner or a date.
func explainOwnership(err error) error {
	if apierror.KindOf(err) != apierror.Validation {
		return err
	}
	text := strings.NewReplacer("The `/body/keepUntil` property", "--keep-until", "The `/body/keepReason` property",
		"--keep-reason", "The `/body/owner/id` property", "--owner", "null without `keepUntil`", "omitted without --keep-until",
	).Replace(apierror.From(err).Message)
	return exitstatus.Errorf(exitstatus.Usage, "%s", strings.TrimSuffix(text, "."))
}

// assign sets a variable to a value, unless that is nil.
func assign[T any](variable, value *T) {
	if value != nil {
		*variable = *value
	}
}

// validate checks the values of a change and converts them to the stored form.
func (o *Operator) validate(ctx context.Context, change *ToggleChange) error {
	if change.Project != nil {
		if err := toggle.CheckName(*change.Project); err != nil {
			return exitstatus.Errorf(exitstatus.Usage, "%q is not a valid project: %v", *change.Project, err)
		}
	}
	if change.Description != nil {
		if n := utf8.RuneCountInString(*change.Description); n > toggle.MaxDescription {
			return exitstatus.Errorf(exitstatus.Usage, "the description has %d characters, the maximum is %d",
				n, toggle.MaxDescription)
		}
		if !utf8.ValidString(*change.Description) {
			return exitstatus.Errorf(exitstatus.Usage, "the description is not valid UTF-8")
		}
	}
	if change.Type != nil {
		all, err := o.types.List(ctx)
		if err != nil {
			return err
		}
		change.Type = new(toggle.NormalTypeID(*change.Type))
		if err := checkKnown("feature type", *change.Type, all,
			func(t toggle.Type) string { return t.ID }); err != nil {
			return err
		}
	}
	if change.ContextFields != nil {
		if n := len(*change.ContextFields); n > toggle.MaxContextFields {
			return exitstatus.Errorf(exitstatus.Usage, "a toggle uses at most %d context fields, not %d",
				toggle.MaxContextFields, n)
		}
		all, err := o.fields.List(ctx)
		if err != nil {
			return err
		}
		for _, name := range *change.ContextFields {
			if err := checkKnown("context field", name, all,
				func(f contextfield.ContextField) string { return f.Name }); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkKnown[T any](what, name string, all []T, nameOf func(T) string) error {
	names := make([]string, len(all))
	for i, known := range all {
		names[i] = nameOf(known)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return exitstatus.Errorf(exitstatus.NotFound, "there is no %s %q: there are %s", what, name, strings.Join(names, ", "))
}

// set changes a toggle. changed is false if it already was as set makes it.
func (o *Operator) set(ctx context.Context, name string, set func(*toggle.Feature) error) (
	f toggle.Feature, changed bool, err error,
) {
	last := int64(0)
	f, err = o.features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
		last = f.LastEvent
		return f, set(&f)
	})
	return f, f.LastEvent != last, err
}

// DeleteToggle deletes a toggle.
func (o *Operator) DeleteToggle(ctx context.Context, name string) error {
	return exitstatus.Explain(o.features.Delete(ctx, name, nil))
}
