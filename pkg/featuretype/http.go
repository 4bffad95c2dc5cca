package featuretype

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/jsonbody"
	"toggleadmin/pkg/lambdahttp"
)

//go:embed lifetime.schema.json
var lifetimeSchema []byte

// answer is featureTypeSchema.
type answer struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	LifetimeDays *int64 `json:"lifetimeDays"`
}

func answerOf(t FeatureType) answer {
	return answer{ID: t.ID, Name: t.Name, Description: t.Description, LifetimeDays: t.LifetimeDays}
}

// listVersion is the only version of the list's schema (specification, 2.3).
const listVersion = 1

// List serves GET /api/admin/feature-types.
func List(types Lister) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := types.List(r.Context())
		if err != nil {
			return err
		}
		body := struct {
			Version int      `json:"version"`
			Types   []answer `json:"types"`
		}{listVersion, make([]answer, len(all))}
		for i, t := range all {
			body.Types[i] = answerOf(t)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// UpdateLifetime serves PUT /api/admin/feature-types/{id}/lifetime.
func UpdateLifetime(types LifetimeSetter) (lambdahttp.HandlerFunc, error) {
	schema, err := jsonbody.Compile(lifetimeSchema)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return notFound(id)
		}
		var lifetime *int64
		if days, ok := body.Int("lifetimeDays"); ok && days != 0 { // 0 is stored and answered as null
			lifetime = &days
		}
		updated, err := types.SetLifetime(r.Context(), NormalID(id), lifetime)
		switch {
		case errors.Is(err, ErrNotFound):
			return notFound(id)
		case err != nil:
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, answerOf(updated))
	}, nil
}

func notFound(id string) error {
	return apierror.New(apierror.NotFound, fmt.Sprintf("There is no feature type with the id %q.", apierror.Echo(id)))
}
