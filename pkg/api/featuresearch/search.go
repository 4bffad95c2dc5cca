// Package featuresearch searches toggles by their properties, state and use, and counts them. It serves both operations.
package featuresearch

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Search serves GET /api/admin/search/features.
func Search(features *feature.Reader, searcher *Searcher) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, o, err := parseSearch(lambdahttp.NewQuery(r))
		if err != nil {
			return err
		}
		f.Owner = f.Owner.of(access.PrincipalFrom(r.Context()))
		projects, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		f.HasEnvironment = access.HaveEnvironments(projects)
		if f.Visible, err = access.Visibility(r.Context()); err != nil {
			return err
		}
		total := 0
		read := func(ctx context.Context, known feature.Resources) (page []toggle.Feature, err error) {
			page, total, err = searcher.Search(ctx, f, o, known)
			return page, err
		}
		page, err := features.Responses(r.Context(), read)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Features []feature.Response `json:"features"`
			Total    int                `json:"total"`
		}{page, total})
	}
}

const (
	maxText      = 1000 // characters
	defaultLimit = 50
	maxLimit     = 100
)

// parseSearch reads the parameters of a search. Its error is a 400.
func parseSearch(q *lambdahttp.Query) (Filter, Order, error) {
	f := Filter{Text: ParseText(q.Text("query", maxText)), Project: oneOf(q, "project"), Type: oneOf(q, "type"),
		State: oneOf(q, "state"), Status: oneOf(q, "status"), Segment: oneOf(q, "segment"), Stage: oneOf(q, "stage"),
		Lifecycle: oneOf(q, "lifecycle"), Application: oneOf(q, "application")}
	if q.Has("favorite") {
		f.Favorite = q.OneOf("favorite", favoriteOnly, favoriteNot)
	}
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
	for _, stage := range f.Stage.Values {
		if !slices.Contains(toggle.Stages(), toggle.Stage(stage)) {
			q.Reject("stage", "must have the stages new, rolling-out, complete, overdue, to-remove or archived")
			break
		}
	}
	for _, stage := range f.Lifecycle.Values {
		if !slices.Contains(toggle.LifecycleStages(), toggle.LifecycleStage(stage)) {
			q.Reject("lifecycle", "must have the stages initial, pre-live, live, completed or archived")
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
	f.Tag, f.Owner, f.CreatedBy = tags(q), owners(q), creators(q)
	f.LastSeen = lastSeen(q)
	if before := q.Time("createdBefore"); f.Before.IsZero() || !before.IsZero() && before.Before(f.Before) {
		f.Before = before
	}
	switch archived := q.OneOf("archived", "IS:false", "IS:true"); {
	case archived == "IS:true":
		f.Archived = OnlyArchived
	case !q.Has("archived") && (f.Stage.includes(string(toggle.StageArchived)) ||
		f.Lifecycle.includes(string(toggle.LifecycleArchived))):
		f.Archived = AllArchived
	}
	_, f.ContextField = q.Operand("contextField", "IS")
	return f, Order{
		By: q.OneOf("sortBy", SortKeys()...), Text: f.Text, Descending: q.OneOf("sortOrder", "asc", "desc") == "desc",
		FavoritesFirst: q.OneOf("favoritesFirst", "false", "true") == "true",
		Offset:         q.Number("offset", 0, 0, math.MaxInt32),
		Limit:          q.Number("limit", defaultLimit, 1, maxLimit),
	}, q.Err()
}

// CheckQuery returns what is wrong with the query of a search, or "".
func CheckQuery(text string) string {
	values, err := url.ParseQuery(text)
	if err != nil {
		return err.Error() + "."
	}
	if _, _, err := parseSearch(lambdahttp.QueryOf(values)); err != nil {
		return apierror.From(err).Message
	}
	return ""
}

// tags reads the parameter tag.
func tags(q *lambdahttp.Query) Tags {
	const name = "tag"
	operator, texts := q.Values(name, "INCLUDE", "DO_NOT_INCLUDE", "INCLUDE_ANY_OF", "EXCLUDE_IF_ANY_OF",
		"INCLUDE_ALL_OF", "EXCLUDE_ALL")
	selected := Tags{All: operator == "INCLUDE_ALL_OF" || operator == "EXCLUDE_ALL"}
	selected.Not = operator == "DO_NOT_INCLUDE" || operator == "EXCLUDE_IF_ANY_OF" || operator == "EXCLUDE_ALL"
	for _, text := range texts {
		tag, ok := toggle.ParseTag(text)
		if !ok {
			q.Reject(name, "must have tags such as simple:checkout")
			break
		}
		selected.Tags = append(selected.Tags, tag)
	}
	return selected
}

// owners reads the parameter owner.
func owners(q *lambdahttp.Query) OneOf {
	const name = "owner"
	selected := oneOf(q, name)
	for _, text := range selected.Values {
		if _, ok := toggle.ParseOwner(text); !ok && text != toggle.NoOwner && text != ownerMe {
			q.Reject(name, "must have owners such as user:7, group:3, text:Checkout team, me or none")
			break
		}
	}
	return selected
}

// creators reads the parameter createdBy.
func creators(q *lambdahttp.Query) OneOf {
	const name = "createdBy"
	selected := oneOf(q, name)
	for _, text := range selected.Values {
		if id, err := strconv.ParseInt(text, 10, 64); err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
			q.Reject(name, "must have ids of accounts such as 7")
			break
		}
	}
	return selected
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
