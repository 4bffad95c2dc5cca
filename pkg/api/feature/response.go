package feature

import (
	"cmp"
	"slices"
	"time"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Response is featureInListSchema in api/openapi.yaml. Operations on one toggle add what featureSchema has.
type Response struct {
	Name               string                `json:"name"`
	Type               string                `json:"type"`
	Project            string                `json:"project"`
	Description        *string               `json:"description"`
	ImpressionData     bool                  `json:"impressionData"`
	Stale              bool                  `json:"stale"`
	Archived           bool                  `json:"archived"`
	CreatedAt          string                `json:"createdAt"`
	CreatedBy          *creator              `json:"createdBy"`
	Owner              *toggle.Owner         `json:"owner"`
	KeepUntil          *string               `json:"keepUntil"` // a date
	KeepReason         *string               `json:"keepReason"`
	ArchivedAt         *string               `json:"archivedAt"`
	PotentiallyStale   bool                  `json:"potentiallyStale"`
	PotentiallyStaleAt *string               `json:"potentiallyStaleAt"`
	Stage              toggle.Stage          `json:"stage"`
	Lifecycle          lifecycle             `json:"lifecycle"`
	LastSeenAt         *string               `json:"lastSeenAt"`   // in any environment
	Environments       []environmentResponse `json:"environments"` // those of the project
	Segments           []string              `json:"segments"`     // the names of those that its strategies use, sorted
	Dependencies       []toggle.Dependency   `json:"dependencies"` // on its parent
	Children           []string              `json:"children"`
	DependencyType     *string               `json:"dependencyType"` // parent or child; nil: neither

	ManagedBy string `json:"managedBy,omitempty"` // the URL of its source; empty: none

	Tags     []toggle.Tag `json:"tags"`
	Favorite bool         `json:"favorite"` // of the caller

	// ContextFields is sorted. Only full responses have it.
	ContextFields []string `json:"contextFields,omitzero"`

	Links []toggle.Link `json:"links,omitzero"` // only full responses have it
}

// lifecycle is the stage of a toggle in Unleash.
type lifecycle struct {
	Stage          toggle.LifecycleStage `json:"stage"`
	EnteredStageAt string                `json:"enteredStageAt"`
}

func lifecycleOf(f toggle.Feature, production []string, now time.Time) lifecycle {
	all := lifecyclesOf(f, production, now)
	return all[len(all)-1]
}

// lifecyclesOf returns the stages that a toggle has reached, the last one at the end.
func lifecyclesOf(f toggle.Feature, production []string, now time.Time) []lifecycle {
	reached := f.Lifecycle(production, now)
	all := make([]lifecycle, len(reached))
	for i, entry := range reached {
		all[i] = lifecycle{entry.Stage, datetime.Format(entry.EnteredAt)}
	}
	return all
}

type creator struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	ImageURL string `json:"imageUrl"` // empty
}

// environmentResponse is the state of a toggle in an environment.
type environmentResponse struct {
	Name                 string  `json:"name"`
	Type                 string  `json:"type"`
	SortOrder            int64   `json:"sortOrder"`
	Enabled              bool    `json:"enabled"`
	HasStrategies        bool    `json:"hasStrategies"`
	HasEnabledStrategies bool    `json:"hasEnabledStrategies"`
	VariantCount         int     `json:"variantCount"`
	Reach                reach   `json:"reach"`
	LastSeenAt           *string `json:"lastSeenAt"`

	// How often it was on and off in the running hour.
	Yes int64 `json:"yes"`
	No  int64 `json:"no"`

	// Strategies is in their order. Only full responses have it.
	Strategies []toggle.Strategy `json:"strategies,omitzero"`
}

// reach is toggle.Reach.
type reach struct {
	Strategies int  `json:"strategies"`
	Percentage *int `json:"percentage"`
}

func newResponse(f toggle.Feature, known Resources) Response {
	environments := known.environmentsOf(f)
	production := known.productionOf(f)
	r := Response{
		Name: f.Name, Type: f.Type, Project: f.Project, Description: f.Description, ImpressionData: f.ImpressionData,
		Stale: f.Stale, Archived: f.Archived, CreatedAt: datetime.Format(f.CreatedAt),
		ArchivedAt: datetime.FormatOptional(f.ArchivedAt), PotentiallyStale: f.PotentiallyStale,
		PotentiallyStaleAt: datetime.FormatOptional(known.Types.PotentiallyStaleAt(f)),
		Stage:              f.Stage(production, known.Now),
		Lifecycle:          lifecycleOf(f, production, known.Now),
		LastSeenAt:         datetime.FormatOptional(f.LastSeenAt()),
		Environments:       make([]environmentResponse, len(environments)),
		Segments:           known.segmentNames(f),
		Dependencies:       []toggle.Dependency{},
		Children:           append([]string{}, f.Children...),
		ManagedBy:          f.ManagedBy,
		Owner:              known.owner(f),
		Tags:               append([]toggle.Tag{}, f.Tags...),
		Favorite:           known.IsFavorite(f),
	}
	if f.Keep != nil {
		r.KeepUntil, r.KeepReason = new(f.Keep.Day()), lambdahttp.Optional(f.Keep.Reason)
	}
	used := known.used[f.Name]
	for i, e := range environments {
		state := f.Environments[e.Name]
		r.Environments[i] = environmentResponse{
			Name:                 e.Name,
			Type:                 e.Type,
			SortOrder:            e.SortOrder,
			Enabled:              state.Enabled,
			HasStrategies:        len(state.Strategies) > 0,
			HasEnabledStrategies: state.HasEnabledStrategies(),
			VariantCount:         state.VariantCount(),
			Reach:                reach(state.Reach()),
			Yes:                  used[e.Name].Yes,
			No:                   used[e.Name].No,
		}
		if at, ok := f.LastSeen[e.Name]; ok {
			r.Environments[i].LastSeenAt = new(datetime.Format(at))
		}
	}
	if f.CreatedBy != nil && f.CreatedBy.ID != 0 {
		r.CreatedBy = &creator{ID: f.CreatedBy.ID, Name: cmp.Or(f.CreatedBy.Name, known.accounts[f.CreatedBy.ID])}
	}
	if f.Dependency != nil {
		r.Dependencies = append(r.Dependencies, *f.Dependency)
		r.DependencyType = new("child")
	}
	if len(f.Children) > 0 {
		r.DependencyType = new("parent")
	}
	return r
}

// newFullResponse returns the response of an operation on one toggle, and an element of a list of whole toggles.
func newFullResponse(f toggle.Feature, known Resources) Response {
	r := newResponse(f, known)
	r.ContextFields = append([]string{}, f.ContextFields...)
	r.Links = append([]toggle.Link{}, f.Links...)
	for i := range r.Environments {
		r.Environments[i].Strategies = append([]toggle.Strategy{}, f.Environments[r.Environments[i].Name].Strategies...)
	}
	return r
}

// productionOf returns the names of the environments of the toggle's project that are of the type production.
func (k Resources) productionOf(f toggle.Feature) []string {
	return k.Production(f.Project, func(_, environment string) bool {
		return k.projects[f.Project].HasEnvironment(environment)
	})
}

// segmentNames returns the names of the segments of a toggle, sorted. A segment that was deleted after the toggle was
// read is left out.
func (k Resources) segmentNames(f toggle.Feature) []string {
	names := []string{}
	for _, id := range f.Segments() {
		if name, ok := k.segments[id]; ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
