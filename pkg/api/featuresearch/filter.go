package featuresearch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// OneOf selects values. Without values it selects all.
type OneOf struct {
	Values []string
	Not    bool // selects all other values
}

func (o OneOf) selects(value string) bool {
	return o.selectsAny(func(v string) bool { return v == value })
}

// includes reports whether a value is one of those that are selected by name.
func (o OneOf) includes(value string) bool { return !o.Not && slices.Contains(o.Values, value) }

// selectsAny is selects for something that can have several of the values.
func (o OneOf) selectsAny(has func(value string) bool) bool {
	return o.Values == nil || slices.ContainsFunc(o.Values, has) != o.Not
}

// ownerMe stands for the caller and the groups of the caller among the values of Filter.Owner.
const ownerMe = "me"

// of returns owners with those for which ownerMe stands. A caller without an account owns nothing.
func (o OneOf) of(caller access.Principal) OneOf {
	if !slices.Contains(o.Values, ownerMe) {
		return o
	}
	values := slices.DeleteFunc(slices.Clone(o.Values), func(value string) bool { return value == ownerMe })
	values = append(values, toggle.Owner{Kind: toggle.OwnerUser, ID: caller.UserID}.String())
	for _, id := range caller.Groups {
		values = append(values, toggle.Owner{Kind: toggle.OwnerGroup, ID: id}.String())
	}
	return OneOf{Values: values, Not: o.Not}
}

// Filter selects toggles.
type Filter struct {
	Text                 Text
	Project, Type, State OneOf
	Stage                OneOf
	Lifecycle            OneOf     // stages of Unleash
	From, Before         time.Time // of the creation: inclusive, exclusive; zero: no limit
	Archived             Archived
	ContextField         string // that they use; empty: all
	Status               OneOf  // in environments: values such as production:enabled
	Segment              OneOf  // names of segments that they use
	Tag                  Tags
	Owner                OneOf  // texts of owners, or toggle.NoOwner
	CreatedBy            OneOf  // ids of accounts, as texts
	Favorite             string // favoriteOnly, favoriteNot; otherwise all
	Application          OneOf  // names of applications that used them in the last 24 hours
	LastSeen             LastSeen
	Visible              func(project string) bool // selects the toggles of these projects
	HasEnvironment       func(project, environment string) bool

	// known is what exists of what Status, Segment and Application name. Searcher.Search sets it.
	known struct {
		environments map[string]bool
		segments     map[string]int64           // ids by names
		uses         map[string]map[string]bool // names of toggles by applications
		resources    feature.Resources
	}
}

// Tags selects toggles by their tags. Without tags it selects all.
type Tags struct {
	Tags []toggle.Tag
	All  bool // selects toggles that have all tags; otherwise those that have one of them
	Not  bool // selects all others
}

func (t Tags) isEmpty() bool { return t.Tags == nil }

func (t Tags) selects(f toggle.Feature) bool {
	has := slices.ContainsFunc(t.Tags, f.HasTag)
	if t.All {
		has = !slices.ContainsFunc(t.Tags, func(tag toggle.Tag) bool { return !f.HasTag(tag) })
	}
	return t.isEmpty() || has != t.Not
}

// Archived selects toggles by whether they are archived.
type Archived string

// The values of Archived.
const (
	NotArchived  Archived = "" // the default
	OnlyArchived Archived = "only"
	AllArchived  Archived = "all" // and the others
)

func (a Archived) selects(archived bool) bool {
	return a == AllArchived || archived == (a == OnlyArchived)
}

// LastSeen selects toggles by when applications last used them, in any environment.
type LastSeen struct {
	Never        bool      // selects those that were never used
	From, Before time.Time // of the last time: inclusive, exclusive; zero: no limit
}

func (l LastSeen) isEmpty() bool { return l == LastSeen{} }

func (l LastSeen) selects(row featuretable.Row) bool {
	if l.isEmpty() {
		return true
	}
	at := row.LastSeenAt()
	if l.Never || at.IsZero() {
		return l.Never && at.IsZero()
	}
	return !at.Before(l.From) && (l.Before.IsZero() || at.Before(l.Before))
}

// The status of a toggle in an environment, in Filter.Status.
const (
	statusEnabled  = "enabled"
	statusDisabled = "disabled"
)

func (f Filter) selects(row featuretable.Row) bool {
	t := row.Toggle
	return f.Visible(t.Project) && f.Archived.selects(t.Archived) &&
		f.Project.selects(t.Project) && f.Type.selects(t.Type) &&
		f.selectsState(t.State()) && f.selectsStage(row) && f.selectsLifecycle(row) &&
		!t.CreatedAt.Before(f.From) && (f.Before.IsZero() || t.CreatedAt.Before(f.Before)) &&
		(f.ContextField == "" || slices.Contains(t.ContextFields, f.ContextField)) &&
		f.Status.selectsAny(func(value string) bool { return f.hasStatus(row, value) }) &&
		f.Segment.selectsAny(func(name string) bool { return f.usesSegment(row, name) }) &&
		f.Tag.selects(t) && f.Owner.selects(t.OwnerName()) && f.LastSeen.selects(row) &&
		f.CreatedBy.selectsAny(func(id string) bool { return isCreator(t, id) }) && f.selectsFavorite(t) &&
		f.Application.selectsAny(func(name string) bool { return f.known.uses[name][t.Name] }) && f.Text.Matches(t)
}

// hasStatus reports whether a toggle has a status of Filter.Status. It has none in an environment that does not exist, or
// that its project does not have.
func (f Filter) hasStatus(row featuretable.Row, value string) bool {
	environment, status, _ := strings.Cut(value, ":")
	return f.known.environments[environment] && f.HasEnvironment(row.Toggle.Project, environment) &&
		slices.Contains(row.EnabledIn, environment) == (status == statusEnabled)
}

// usesSegment reports whether a toggle uses the segment with the name.
func (f Filter) usesSegment(row featuretable.Row, name string) bool {
	id, exists := f.known.segments[name]
	return exists && slices.Contains(row.Segments, id)
}

func (f Filter) selectsState(state toggle.State) bool { return f.State.selects(string(state)) }

func (f Filter) selectsStage(row featuretable.Row) bool {
	if f.Stage.Values == nil {
		return true
	}
	known := f.known.resources
	stage := row.Stage(known.Production(row.Toggle.Project, f.HasEnvironment), known.Now)
	return f.Stage.selects(string(stage))
}

func (f Filter) selectsLifecycle(row featuretable.Row) bool {
	if f.Lifecycle.Values == nil {
		return true
	}
	known := f.known.resources
	stage := row.LifecycleStage(known.Production(row.Toggle.Project, f.HasEnvironment), known.Now)
	return f.Lifecycle.selects(string(stage))
}

// isCreator reports whether the account with the id has created a toggle. Imported toggles have a creator without an id.
func isCreator(t toggle.Feature, id string) bool {
	return t.CreatedBy != nil && strconv.FormatInt(t.CreatedBy.ID, 10) == id
}

// The values of Filter.Favorite.
const (
	favoriteOnly = "IS:true"
	favoriteNot  = "IS:false"
)

func (f Filter) selectsFavorite(t toggle.Feature) bool {
	return f.Favorite == "" || f.known.resources.IsFavorite(t) == (f.Favorite == favoriteOnly)
}

// onlyFlagged reports whether all selected toggles are in the part of the staleness index with the flag.
func (f Filter) onlyFlagged() bool {
	return f.onlyStage(toggle.StageOverdue) || f.selectsState(toggle.StatePotentiallyStale) &&
		!f.selectsState(toggle.StateActive) && !f.selectsState(toggle.StateStale)
}

// onlyStage reports whether all selected toggles are in a stage.
func (f Filter) onlyStage(stage toggle.Stage) bool {
	return f.Stage.Values != nil && !slices.ContainsFunc(toggle.Stages(), func(other toggle.Stage) bool {
		return f.Stage.selects(string(other)) != (other == stage)
	})
}

// ofIndex returns the part of the filter that the attributes of the staleness index decide.
func (f Filter) ofIndex() Filter {
	f.Text = Text{}
	f.ContextField = ""
	f.Status = OneOf{}
	f.Segment = OneOf{}
	f.Tag = Tags{}
	f.Owner = OneOf{}
	f.CreatedBy = OneOf{}
	f.LastSeen = LastSeen{}
	f.Stage = OneOf{}
	f.Lifecycle = OneOf{}
	return f
}

// needsItems reports whether other attributes than those of the staleness index decide, too.
func (f Filter) needsItems() bool {
	return !f.Text.IsEmpty() || f.ContextField != "" || f.Status.Values != nil || f.Segment.Values != nil ||
		!f.Tag.isEmpty() || f.Owner.Values != nil || f.CreatedBy.Values != nil || !f.LastSeen.isEmpty() ||
		f.Lifecycle.Values != nil || f.Stage.Values != nil
}

// Order is the order of a search, and the part of it that is returned: without the first Offset toggles, at most Limit.
type Order struct {
	By            string // one of SortKeys
	Text          Text   // of the search, for the order by relevance
	Descending    bool
	Offset, Limit int

	FavoritesFirst bool
	isFavorite     func(toggle.Feature) bool // Searcher.Search sets it
}

// SortKeys returns what toggles can be sorted by.
func SortKeys() []string {
	return []string{"createdAt", "name", "type", "project", "stale", "potentiallyStaleAt", "lastSeenAt", "relevance"}
}

// needsItems reports whether other attributes than those of the staleness index decide the order.
func (o Order) needsItems() bool { return o.By == "lastSeenAt" }

// sorted returns toggles in the order. Those with the same key are ordered by name, and those without a key are last.
// In the order by lastSeenAt, those that were never used are like those that were last used the longest time
// ago.
func (o Order) sorted(all []featuretable.Row, known feature.Types) []featuretable.Row {
	staleAt := func(f *toggle.Feature) time.Time {
		if at := known.PotentiallyStaleAt(*f); at != nil {
			return *at
		}
		if o.Descending {
			return time.Time{}
		}
		return time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	relevance := map[string]int{}
	if o.By == "relevance" {
		for _, row := range all {
			relevance[row.Toggle.Name] = o.Text.relevance(row.Toggle.Name)
		}
	}
	lastSeen := map[string]time.Time{}
	if o.By == "lastSeenAt" {
		for _, row := range all {
			lastSeen[row.Toggle.Name] = row.LastSeenAt()
		}
	}
	name := func(a, b *toggle.Feature) int { return cmp.Compare(a.Name, b.Name) }
	compare := map[string]func(a, b *toggle.Feature) int{
		"createdAt": func(a, b *toggle.Feature) int { return a.CreatedAt.Compare(b.CreatedAt) },
		"name":      name,
		"type":      func(a, b *toggle.Feature) int { return cmp.Compare(a.Type, b.Type) },
		"project":   func(a, b *toggle.Feature) int { return cmp.Compare(a.Project, b.Project) },
		"stale": func(a, b *toggle.Feature) int {
			return cmp.Compare(strconv.FormatBool(a.Stale), strconv.FormatBool(b.Stale)) // false, then true
		},
		"potentiallyStaleAt": func(a, b *toggle.Feature) int { return staleAt(a).Compare(staleAt(b)) },
		"lastSeenAt":         func(a, b *toggle.Feature) int { return lastSeen[a.Name].Compare(lastSeen[b.Name]) },
		"relevance":          func(a, b *toggle.Feature) int { return cmp.Compare(relevance[a.Name], relevance[b.Name]) },
	}[o.By]
	rows := make([]*featuretable.Row, len(all)) // a row is large
	for i := range all {
		rows[i] = &all[i]
	}
	slices.SortFunc(rows, func(a, b *featuretable.Row) int {
		order := compare(&a.Toggle, &b.Toggle)
		if o.Descending {
			order = -order
		}
		return cmp.Or(order, name(&a.Toggle, &b.Toggle))
	})
	var first, others []featuretable.Row
	for _, row := range rows {
		if o.FavoritesFirst && o.isFavorite(row.Toggle) {
			first = append(first, *row)
		} else {
			others = append(others, *row)
		}
	}
	return append(first, others...)
}

// page returns the toggles of the page.
func (o Order) page(all []featuretable.Row) []featuretable.Row {
	first := min(o.Offset, len(all))
	return all[first:min(first+o.Limit, len(all))]
}
