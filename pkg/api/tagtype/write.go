package tagtype

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// reservedName cannot be the name of a tag type, because /api/admin/tag-types/validate is the path of an operation of
// Unleash.
const reservedName = "validate"

func notReserved(body jsonbody.Object) []apierror.Detail {
	if body.Text("name") != reservedName {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/name", "must not be %q, which is a path of the API", reservedName)}
}

// Create serves POST /api/admin/tag-types.
func Create(types *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		t := TagType{Name: body.Text("name")}
		assign(&t, body)
		if err := types.Create(r.Context(), t); err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(t.Name).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, t.data())
	}
}

// Validate serves POST /api/admin/tag-types/validate.
func Validate(types *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		t := TagType{Name: body.Text("name")}
		assign(&t, body)
		switch _, err := types.Get(r.Context(), t.Name); {
		case err == nil:
			return taken(t.Name)
		case apierror.KindOf(err) != apierror.NotFound:
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Valid   bool      `json:"valid"`
			TagType eventData `json:"tagType"`
		}{true, t.data()})
	}
}

// assign sets the properties of a type that a body has.
func assign(t *TagType, body jsonbody.Object) {
	if body.Has("description") {
		t.Description = body.Text("description")
	}
	if body.Has("icon") {
		t.Icon = optional(body, "icon")
	}
	if body.Has("color") {
		t.Color = optional(body, "color")
	}
}

func optional(body jsonbody.Object, property string) *string {
	text, ok := body.TextOK(property)
	if !ok {
		return nil
	}
	return &text
}

// Update serves PUT /api/admin/tag-types/{name}.
func Update(types *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		body, err := schema.Read(r, jsonbody.AsInPath("name", name))
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return types.Update(r.Context(), name, func(t *TagType) error { // nil: 200 without a body
			if err := preconditions.Check(etag(*t)); err != nil {
				return err
			}
			assign(t, body)
			return nil
		})
	}
}

// Delete serves DELETE /api/admin/tag-types/{name}.
func Delete(types *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return types.Delete(r.Context(), name, func(t TagType) error { // nil: 200 without a body
			return preconditions.Check(etag(t))
		})
	}
}
