package contextfield

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
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
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, responses(all, visible))
	}
}

func responses(fields []ContextField, visible func(project string) bool) []field {
	all := make([]field, len(fields))
	for i, f := range fields {
		all[i] = response(f, visible)
	}
	return all
}

// respond writes the response of an operation on one field.
func respond(w http.ResponseWriter, r *http.Request, status int, f ContextField) error {
	visible, err := access.Visibility(r.Context())
	if err != nil {
		return err
	}
	return lambdahttp.WriteJSON(w, status, response(f, visible))
}

// inEveryProject is for a response that depends on no project: of a new field, or one that is only measured.
func inEveryProject(string) bool { return true }

// response returns the response for a field. Only toggles of visible projects are counted.
func response(f ContextField, visible func(project string) bool) field {
	used := f.References.In(visible)
	r := field{
		Name:           f.Name,
		Description:    f.Description,
		Stickiness:     f.Stickiness,
		SortOrder:      f.SortOrder,
		CreatedAt:      datetime.FormatOptional(f.CreatedAt),
		UsedInFeatures: used.Toggles(),
		UsedInProjects: used.Projects(),
		LegalValues:    make([]legalValue, len(f.LegalValues)),
	}
	for i, v := range f.LegalValues {
		r.LegalValues[i] = legalValue(v)
	}
	return r
}
