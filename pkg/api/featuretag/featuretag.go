// Package featuretag serves the operations on the tags of toggles. As in Unleash, the paths of one toggle have no
// project.
package featuretag

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed tag.schema.json
var tagSchema []byte

//go:embed update.schema.json
var updateSchema []byte

//go:embed bulk.schema.json
var bulkSchema []byte

// List serves GET /api/admin/features/{featureName}/tags.
func List(features *feature.Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := feature.NameOf(r)
		if err != nil {
			return err
		}
		f, err := features.Get(r.Context(), name)
		if err != nil {
			return err
		}
		if err := feature.CheckVisible(r.Context(), f); err != nil {
			return err
		}
		return respond(w, f)
	}
}

// version is the version of the form of responses.
const version = 1

// respond writes the tags of a toggle.
func respond(w http.ResponseWriter, f toggle.Feature) error { return respondTags(w, f.Tags) }

func respondTags(w http.ResponseWriter, tags []toggle.Tag) error {
	return lambdahttp.WriteJSON(w, http.StatusOK, struct {
		Version int          `json:"version"`
		Tags    []toggle.Tag `json:"tags"`
	}{version, append([]toggle.Tag{}, tags...)})
}

// ListAll serves GET /api/admin/tags.
func ListAll(tags *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := tags.All(r.Context())
		if err != nil {
			return err
		}
		return respondTags(w, all)
	}
}

// ListOfType serves GET /api/admin/tags/{type}. A type that no toggle has a tag of has no tags.
func ListOfType(tags *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		kind, _ := lambdahttp.PathParam(r, "type") // no toggle has a tag of an invalid type
		all, err := tags.All(r.Context())
		if err != nil {
			return err
		}
		return respondTags(w, slices.DeleteFunc(all, func(tag toggle.Tag) bool { return tag.Type != kind }))
	}
}

// Get serves GET /api/admin/tags/{type}/{value}.
func Get(tags *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		kind, _ := lambdahttp.PathParam(r, "type")
		value, _ := lambdahttp.PathParam(r, "value")
		tag := toggle.Tag{Type: kind, Value: value}
		all, err := tags.All(r.Context())
		if err != nil {
			return err
		}
		if !slices.Contains(all, tag) {
			return apierror.Errorf(apierror.NotFound, "No toggle has the tag %q.", apierror.Echo(tag.String()))
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int        `json:"version"`
			Tag     toggle.Tag `json:"tag"`
		}{version, tag})
	}
}

// Add serves POST /api/admin/features/{featureName}/tags.
func Add(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(tagSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := authorize(r, features); err != nil {
			return err
		}
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail { return invalid(body, "/body") })
		if err != nil {
			return err
		}
		tag := tagOf(body)
		if _, err := update(r, features, change{added: []toggle.Tag{tag}}); err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(tag.Type, tag.Value).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, tag)
	}
}

// Update serves PUT /api/admin/features/{featureName}/tags.
func Update(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := authorize(r, features); err != nil {
			return err
		}
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail { return invalidChange(body, "/body") })
		if err != nil {
			return err
		}
		f, err := update(r, features, changeOf(body))
		if err != nil {
			return err
		}
		return respond(w, f)
	}
}

// Remove serves DELETE /api/admin/features/{featureName}/tags/{type}/{value}.
func Remove(features *feature.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		kind, _ := lambdahttp.PathParam(r, "type") // no toggle has an invalid tag
		value, _ := lambdahttp.PathParam(r, "value")
		_, err := update(r, features, change{removed: []toggle.Tag{{Type: kind, Value: value}}})
		return err // nil: 200 without a body
	}
}

// UpdateAll serves PUT /api/admin/projects/{projectId}/tags.
func UpdateAll(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(bulkSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail {
			return invalidChange(tagsOf(body), "/body/tags")
		})
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		names := slices.Compact(slices.Sorted(slices.Values(body.Texts("features"))))
		c := changeOf(tagsOf(body))
		_, err = features.InProject(feature.ProjectOf(r)).UpdateAll(r.Context(), names, c.apply)
		return err // nil: 200 without a body
	}
}

// tagsOf returns the property tags of a body.
func tagsOf(body jsonbody.Object) jsonbody.Object {
	tags, _ := body["tags"].(map[string]any)
	return tags
}

// change is a change of the tags of a toggle.
type change struct{ removed, added []toggle.Tag }

func changeOf(body jsonbody.Object) change {
	return change{TagsOf(body.Objects("removedTags")), TagsOf(body.Objects("addedTags"))}
}

// apply returns a toggle with the change. The kind of its error is Validation if it would have too many tags.
func (c change) apply(f toggle.Feature) (toggle.Feature, error) {
	f.ChangeTags(c.removed, c.added)
	if len(f.Tags) > toggle.MaxTags {
		return f, apierror.Errorf(apierror.Validation, "The toggle %q would have %d tags. The maximum is %d.", f.Name,
			len(f.Tags), toggle.MaxTags)
	}
	return f, nil
}

// authorize returns the 403 if the caller may not change the toggle of a request: it precedes the errors of the body. A
// toggle that does not exist or is not visible is found later.
func authorize(r *http.Request, features *feature.Store) error {
	name, err := feature.NameOf(r)
	if err != nil {
		return nil //nolint:nilerr // update returns it
	}
	f, err := features.Get(r.Context(), name)
	if err == nil {
		err = feature.CheckProject(r.Context(), f, access.UpdateFeature)
	}
	return apierror.IgnoreNotFound(err)
}

// update changes the tags of the toggle of a request.
func update(r *http.Request, features *feature.Store, c change) (toggle.Feature, error) {
	name, err := feature.NameOf(r)
	if err != nil {
		return toggle.Feature{}, err
	}
	ctx := r.Context()
	return features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
		if err := feature.CheckProject(ctx, f, access.UpdateFeature); err != nil {
			return f, err
		}
		if r.Method != http.MethodPost { // which creates a tag
			if err := lambdahttp.CheckUntagged(r); err != nil {
				return f, err
			}
		}
		return c.apply(f)
	})
}

// tagOf returns the tag that a body has. As in Unleash, white space around the value does not count.
func tagOf(body jsonbody.Object) toggle.Tag {
	return toggle.Tag{Type: body.Text("type"), Value: strings.TrimSpace(body.Text("value"))}
}

// TagsOf returns the tags in a list of a body.
func TagsOf(list []jsonbody.Object) (tags []toggle.Tag) {
	for _, tag := range list {
		tags = append(tags, tagOf(tag))
	}
	return tags
}

// Invalid returns what the schema cannot say of the tags in a list of a body, which is at a JSON pointer.
func Invalid(list []jsonbody.Object, path string) (all []apierror.Detail) {
	for i, tag := range list {
		all = append(all, invalid(tag, fmt.Sprintf("%s/%d", path, i))...)
	}
	return all
}

// invalid returns what the schema cannot say of a tag.
func invalid(body jsonbody.Object, path string) []apierror.Detail {
	value, sent := body.TextOK("value")
	if !sent {
		return nil
	}
	if err := toggle.CheckTagValue(strings.TrimSpace(value)); err != nil {
		return []apierror.Detail{apierror.At(path+"/value", "%v", err).Sent(value)}
	}
	return nil
}

func invalidChange(body jsonbody.Object, path string) (all []apierror.Detail) {
	for _, list := range []string{"addedTags", "removedTags"} {
		all = append(all, Invalid(body.Objects(list), path+"/"+list)...)
	}
	return all
}
