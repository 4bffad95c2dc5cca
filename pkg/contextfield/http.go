package contextfield

import (
	"net/http"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/lambdahttp"
)

// answer is a member of contextFieldsSchema.
type answer struct {
	Name           string       `json:"name"`
	Description    *string      `json:"description"`
	Stickiness     bool         `json:"stickiness"`
	SortOrder      int64        `json:"sortOrder"`
	CreatedAt      *string      `json:"createdAt"`
	UsedInFeatures int64        `json:"usedInFeatures"`
	UsedInProjects int64        `json:"usedInProjects"`
	LegalValues    []legalValue `json:"legalValues"`
}

type legalValue struct {
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
}

// List serves GET /api/admin/context.
func List(fields Lister) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := fields.List(r.Context())
		if err != nil {
			return err
		}
		body := make([]answer, len(all))
		for i, f := range all {
			body[i] = answerOf(f)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

func answerOf(f ContextField) answer {
	a := answer{
		Name: f.Name, Stickiness: f.Stickiness, SortOrder: f.SortOrder,
		UsedInFeatures: f.UsedInFeatures(), UsedInProjects: f.UsedInProjects(),
		LegalValues: make([]legalValue, len(f.LegalValues)),
	}
	if f.Description != "" {
		a.Description = &f.Description
	}
	if f.CreatedAt != nil {
		text := datetime.Format(*f.CreatedAt)
		a.CreatedAt = &text
	}
	for i, v := range f.LegalValues {
		a.LegalValues[i] = legalValue(v)
	}
	return a
}
