package contextfield

import (
	"net/http"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// field is contextFieldSchema in api/openapi.yaml.
type field struct {
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
	Value       string  `json:"value"`
	Description *string `json:"description"` // nil: none
}

// List serves GET /api/admin/context.
func List(fields *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := fields.List(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, responses(all))
	}
}

func responses(fields []ContextField) []field {
	all := make([]field, len(fields))
	for i, f := range fields {
		all[i] = response(f)
	}
	return all
}

func response(f ContextField) field {
	r := field{
		Name:           f.Name,
		Description:    f.Description,
		Stickiness:     f.Stickiness,
		SortOrder:      f.SortOrder,
		CreatedAt:      datetime.FormatOptional(f.CreatedAt),
		UsedInFeatures: f.References.Toggles(),
		UsedInProjects: f.References.Projects(),
		LegalValues:    make([]legalValue, len(f.LegalValues)),
	}
	for i, v := range f.LegalValues {
		r.LegalValues[i] = legalValue(v)
	}
	return r
}
