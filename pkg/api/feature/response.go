package feature

import (
	"time"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// response is featureSchema in api/openapi.yaml. Operations on one toggle add its context fields.
type response struct {
	Name               string   `json:"name"`
	Type               string   `json:"type"`
	Project            string   `json:"project"`
	Description        *string  `json:"description"`
	ImpressionData     bool     `json:"impressionData"`
	Stale              bool     `json:"stale"`
	Archived           bool     `json:"archived"`
	CreatedAt          string   `json:"createdAt"`
	CreatedBy          *creator `json:"createdBy"`
	ArchivedAt         *string  `json:"archivedAt"`
	PotentiallyStale   bool     `json:"potentiallyStale"`
	PotentiallyStaleAt *string  `json:"potentiallyStaleAt"`

	// These members have their empty value.
	Environments   []string `json:"environments"`
	Segments       []string `json:"segments"`
	Tags           []string `json:"tags"`
	Favorite       bool     `json:"favorite"`
	DependencyType *string  `json:"dependencyType"`

	// ContextFields is sorted. Lists leave it out.
	ContextFields []string `json:"contextFields,omitzero"`
}

type creator struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	ImageURL string `json:"imageUrl"` // empty
}

func newResponse(f toggle.Feature, potentiallyStaleAt *time.Time) response {
	r := response{
		Name: f.Name, Type: f.Type, Project: f.Project, Description: f.Description, ImpressionData: f.ImpressionData,
		Stale: f.Stale, Archived: f.Archived, CreatedAt: datetime.Format(f.CreatedAt),
		ArchivedAt: datetime.FormatOptional(f.ArchivedAt), PotentiallyStale: f.PotentiallyStale,
		PotentiallyStaleAt: datetime.FormatOptional(potentiallyStaleAt),
		Environments:       []string{}, Segments: []string{}, Tags: []string{},
	}
	if f.CreatedBy != nil && f.CreatedBy.ID != 0 {
		r.CreatedBy = &creator{ID: f.CreatedBy.ID, Name: f.CreatedBy.Name}
	}
	return r
}

func newResponses(all []toggle.Feature, known Types) []response {
	list := make([]response, len(all))
	for i, f := range all {
		list[i] = newResponse(f, known.PotentiallyStaleAt(f))
	}
	return list
}
