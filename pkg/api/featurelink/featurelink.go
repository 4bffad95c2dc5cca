// Package featurelink serves the operations on the links of toggles.
package featurelink

import (
	_ "embed"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed link.schema.json
var linkSchema []byte

// Add serves POST /api/admin/projects/{projectId}/features/{featureName}/link. newID returns the id of a new link. As in
// Unleash, the response has no body.
func Add(features *feature.Store, newID func() string) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(linkSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := read(r, schema)
		if err != nil {
			return err
		}
		link.ID = newID()
		err = change(r, features, func(f toggle.Feature) (toggle.Feature, error) {
			if len(f.Links) >= toggle.MaxLinks {
				return f, apierror.Errorf(apierror.Validation, "The toggle %q has %d links, which is the maximum. Delete one first.",
					f.Name, len(f.Links))
			}
			f.Links = append(slices.Clone(f.Links), link)
			return f, nil
		})
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(link.ID).String())
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// Update serves PUT /api/admin/projects/{projectId}/features/{featureName}/link/{linkId}.
func Update(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(linkSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		link, err := read(r, schema)
		if err != nil {
			return err
		}
		return changeOne(w, r, features, func(links []toggle.Link, i int) []toggle.Link {
			link.ID = links[i].ID
			links[i] = link
			return links
		})
	}
}

// Remove serves DELETE /api/admin/projects/{projectId}/features/{featureName}/link/{linkId}.
func Remove(features *feature.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		return changeOne(w, r, features, func(links []toggle.Link, i int) []toggle.Link {
			return slices.Delete(links, i, i+1)
		})
	}
}

// read returns the link of a body, without an id.
func read(r *http.Request, schema *jsonbody.Schema) (toggle.Link, error) {
	body, err := schema.Read(r, isWebURL)
	if err != nil {
		return toggle.Link{}, err
	}
	return toggle.Link{URL: body.Text("url"), Title: lambdahttp.Optional(body.Text("title"))}, nil
}

// isWebURL is the rule that a browser can open the URL, and executes nothing.
func isWebURL(body jsonbody.Object) []apierror.Detail {
	sent := body.Text("url")
	if err := toggle.CheckLinkURL(sent); err != nil {
		return []apierror.Detail{apierror.At("/body/url", "%v", err).Sent(sent)}
	}
	return nil
}

// changeOne changes the links of the toggle of a request, of which one has the position i and the id of the path.
func changeOne(
	w http.ResponseWriter, r *http.Request, features *feature.Store, edit func(links []toggle.Link, i int) []toggle.Link,
) error {
	id, _ := lambdahttp.PathParam(r, "linkId") // no link has an invalid id
	err := change(r, features, func(f toggle.Feature) (toggle.Feature, error) {
		i := f.Link(id)
		if i < 0 {
			return f, apierror.Errorf(apierror.NotFound, "The toggle %q has no link with the id %q.", f.Name, apierror.Echo(id))
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return f, err
		}
		f.Links = edit(slices.Clone(f.Links), i)
		return f, nil
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// change changes the toggle of a request.
func change(r *http.Request, features *feature.Store, change feature.Change) error {
	project, name, err := feature.PathOf(r)
	if err != nil {
		return err
	}
	_, err = features.InProject(project).Update(r.Context(), name, change)
	return err
}
