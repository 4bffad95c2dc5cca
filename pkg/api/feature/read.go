package feature

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Get serves GET /api/admin/projects/{projectId}/features/{featureName}.
func Get(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project, name, err := PathOf(r)
		if err != nil {
			return err
		}
		f, err := features.InProject(project).Get(r.Context(), name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", ETag(f))
		return respond(w, r, http.StatusOK, features, f)
	}
}

// respond writes the response of an operation on one toggle.
func respond(w http.ResponseWriter, r *http.Request, status int, features *Reader, f toggle.Feature) error {
	known, err := features.resourcesOf(r.Context(), f)
	if err != nil {
		return err
	}
	return lambdahttp.WriteJSON(w, status, newFullResponse(f, known))
}

const (
	listVersion = 2
	// maxList is the maximum size of a list in Lambda's response, in bytes. Lambda's limit is 6 MB.
	maxList = 5_000_000
)

// List serves GET /api/admin/projects/{projectId}/features.
func List(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project, err := ProjectOf(r)
		if err != nil {
			return err
		}
		usage := features.hour.start(r.Context())
		known, err := features.resources(r.Context())
		if err != nil {
			return err
		}
		active := Filter{Project: OneOf{Values: []string{project}}}
		all, err := features.list(r.Context(), active.selects)
		if err != nil {
			return err
		}
		if known.segments, err = features.segmentsOf(r.Context(), all); err != nil {
			return err
		}
		if known.used, err = usage(); err != nil {
			return err
		}
		body := struct {
			Version  int        `json:"version"`
			Features []response `json:"features"`
		}{listVersion, newResponses(all, known)}
		size, err := jsonbody.SizeInResponse(body)
		if err != nil {
			return err
		}
		if size > maxList {
			return apierror.Errorf(apierror.Validation,
				"The list of the %d toggles of the project is larger than %d bytes. Use the pages of "+
					"GET /api/admin/search/features?project=IS:%s.", len(all), maxList, project)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// Search serves GET /api/admin/search/features.
func Search(features *Searcher) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, o, err := parseSearch(lambdahttp.NewQuery(r))
		if err != nil {
			return err
		}
		usage := features.hour.start(r.Context())
		known, err := features.resources(r.Context())
		if err != nil {
			return err
		}
		page, total, err := features.Search(r.Context(), f, o, known)
		if err != nil {
			return err
		}
		if known.segments, err = features.segmentsOf(r.Context(), page); err != nil {
			return err
		}
		if known.used, err = usage(); err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Features []response `json:"features"`
			Total    int        `json:"total"`
		}{newResponses(page, known), total})
	}
}

const (
	maxText      = 1000 // characters
	defaultLimit = 50
	maxLimit     = 100
)

// unsupportedParameters are parameters of Unleash that this service does not have.
func unsupportedParameters() []string {
	return []string{"tag", "lifecycle", "favoritesFirst", "favorite", "createdBy"}
}

// parseSearch reads the parameters of a search. Its error is a 400.
func parseSearch(q *lambdahttp.Query) (Filter, Order, error) {
	for _, name := range unsupportedParameters() {
		if q.Has(name) {
			q.Reject(name, "is not supported")
		}
	}
	f := Filter{Text: ParseText(q.Text("query", maxText)), Project: oneOf(q, "project"), Type: oneOf(q, "type"),
		State: oneOf(q, "state"), Status: oneOf(q, "status"), Segment: oneOf(q, "segment")}
	for i, id := range f.Type.Values {
		f.Type.Values[i] = toggle.NormalTypeID(id)
	}
	states := []toggle.State{toggle.StateActive, toggle.StateStale, toggle.StatePotentiallyStale}
	for _, state := range f.State.Values {
		if !slices.Contains(states, toggle.State(state)) {
			q.Reject("state", "must have the states active, stale or potentially-stale")
			break
		}
	}
	if slices.ContainsFunc(f.Status.Values, isNoStatus) {
		q.Reject("status", "must have an environment and enabled or disabled, such as production:enabled")
	}
	switch operator, day := q.Day("createdAt", "IS_BEFORE", "IS_ON_OR_AFTER"); operator {
	case "IS_BEFORE":
		f.Before = day
	case "IS_ON_OR_AFTER":
		f.From = day
	}
	f.LastSeen = lastSeen(q)
	if before := q.Time("createdBefore"); f.Before.IsZero() || !before.IsZero() && before.Before(f.Before) {
		f.Before = before
	}
	f.Archived = q.OneOf("archived", "IS:false", "IS:true") == "IS:true"
	_, f.ContextField = q.Operand("contextField", "IS")
	return f, Order{
		By: q.OneOf("sortBy", SortKeys()...), Text: f.Text, Descending: q.OneOf("sortOrder", "asc", "desc") == "desc",
		Offset: q.Number("offset", 0, 0, math.MaxInt32), Limit: q.Number("limit", defaultLimit, 1, maxLimit),
	}, q.Err()
}

// lastSeen reads the parameter lastSeenAt.
func lastSeen(q *lambdahttp.Query) LastSeen {
	const name, never = "lastSeenAt", "IS:never"
	if q.Is(name, never) {
		return LastSeen{Never: true}
	}
	switch operator, day := q.Day(name, "IS_BEFORE", "IS_ON_OR_AFTER"); operator {
	case "IS_BEFORE":
		return LastSeen{Before: day}
	case "IS_ON_OR_AFTER":
		return LastSeen{From: day}
	}
	return LastSeen{}
}

// isNoStatus reports whether a text cannot be a value of Filter.Status.
func isNoStatus(value string) bool {
	environment, status, _ := strings.Cut(value, ":")
	return environment == "" || status != statusEnabled && status != statusDisabled
}

func oneOf(q *lambdahttp.Query, name string) OneOf {
	operator, values := q.Values(name, "IS", "IS_NOT", "IS_ANY_OF", "IS_NONE_OF")
	return OneOf{Values: values, Not: operator == "IS_NOT" || operator == "IS_NONE_OF"}
}
