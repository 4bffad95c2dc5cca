package savedview

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed set.schema.json
var setSchema []byte

// Get serves GET /api/admin/user/views.
func Get(views *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		stored, err := views.Get(r.Context())
		if err != nil {
			return err
		}
		return respond(w, stored)
	}
}

// Set serves PUT /api/admin/user/views.
func Set(views *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(setSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, valid)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		next := viewsOf(body)
		err = views.Replace(r.Context(), next, func(old []View) error { return preconditions.Check(etag(old)) })
		if err != nil {
			return err
		}
		return respond(w, next)
	}
}

func respond(w http.ResponseWriter, views []View) error {
	w.Header().Set("ETag", etag(views))
	return lambdahttp.WriteJSON(w, http.StatusOK, newList(views))
}

// viewsOf returns the views of a body.
func viewsOf(body jsonbody.Object) []View {
	views := []View{}
	for _, v := range body.Objects("views") {
		views = append(views, View{strings.TrimSpace(v.Text("name")), v.Text("query")})
	}
	return views
}

// valid is the rule that views have different names, which are not white space, and queries of searches.
func valid(body jsonbody.Object) (violations []apierror.Detail) {
	var names []string
	for i, v := range viewsOf(body) {
		place := fmt.Sprintf("/body/views/%d/", i)
		switch {
		case v.Name == "":
			violations = append(violations, apierror.At(place+"name", "must not be empty"))
		case slices.Contains(names, v.Name):
			violations = append(violations, apierror.At(place+"name", "must be the name of one view").Sent(v.Name))
		}
		names = append(names, v.Name)
		if wrong := featuresearch.CheckQuery(v.Query); wrong != "" {
			violations = append(violations, apierror.At(place+"query", "must be the query of a search of toggles: %s",
				strings.TrimSuffix(wrong, ".")))
		}
	}
	return violations
}
