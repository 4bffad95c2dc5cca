package unleash

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
)

const (
	// Parallel is the maximum number of concurrent requests.
	Parallel = 4

	pageSize = 100 // the maximum of Unleash's search
	// searches is how often all toggles are read if they change meanwhile.
	searches = 3
)

// found is a toggle in the response of the search.
type found struct {
	Name, Project, Type string
	Description         *string
	ImpressionData      bool
	Stale               bool
	CreatedAt           *string
	ArchivedAt          *string
	CreatedBy           *struct{ Name string }
	Environments        []struct {
		Name          string
		HasStrategies bool
	}
}

// strategy is the part of a toggle's strategy that contains context fields.
type strategy struct {
	Constraints []struct{ ContextName string }
	Parameters  map[string]any
	Variants    []struct{ Stickiness string }
}

// fields returns the names of the context fields that a strategy uses.
func (s strategy) fields() (names []string) {
	for _, c := range s.Constraints {
		names = append(names, c.ContextName)
	}
	stickiness, _ := s.Parameters["stickiness"].(string)
	names = append(names, custom(stickiness)...)
	for _, v := range s.Variants {
		names = append(names, custom(v.Stickiness)...)
	}
	return names
}

// custom returns the name of the context field of a stickiness. default and random are not context fields.
func custom(stickiness string) []string {
	if stickiness == "" || stickiness == "default" || stickiness == "random" {
		return nil
	}
	return []string{stickiness}
}

// Read reads the types, the context fields and the toggles, archived ones too. If project is not empty, it reads only
// the toggles of that project. Unleash limits the speed, to 1,500 toggles per minute.
func Read(ctx context.Context, c Config, project string) (transfer.Document, error) {
	base, err := parseURL(c.URL)
	if err != nil {
		return transfer.Document{}, err
	}
	r := &client{c, base}
	var d transfer.Document
	var types struct{ Types []transfer.FeatureType }
	if err := r.get(ctx, "api/admin/feature-types", nil, &types); err != nil {
		return d, err
	}
	d.FeatureTypes = types.Types
	// Without the parameter, the fields of projects are left out.
	if err := r.get(ctx, "api/admin/context", url.Values{"include": {"project"}}, &d.ContextFields); err != nil {
		return d, err
	}
	for i := range d.ContextFields {
		noEmptyDescription(&d.ContextFields[i].Description)
	}
	toggles, err := r.toggles(ctx, project)
	if err != nil {
		return d, err
	}
	if project != "" && len(toggles) == 0 {
		return d, exitstatus.Errorf(exitstatus.NotFound,
			"Unleash has no toggle in the project %q, or the token may not read it", project)
	}
	d.Features = make([]transfer.Toggle, len(toggles))
	return d, r.complete(ctx, toggles, d.Features)
}

// noEmptyDescription replaces an empty description by none, as Unleash's pages show it.
func noEmptyDescription(text **string) {
	if *text != nil && **text == "" {
		*text = nil
	}
}

// toggles returns the toggles, those that are not archived first, ordered by the time of their creation.
func (r *client) toggles(ctx context.Context, project string) ([]found, error) {
	var all []found
	for _, archived := range []bool{false, true} {
		list, err := r.search(ctx, project, archived)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	latest := map[string]int{} // a toggle that is archived meanwhile is in both lists
	for i, t := range all {
		latest[t.Name] = i
	}
	kept := all[:0]
	for i, t := range all {
		if latest[t.Name] == i {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// errChanging reports that toggles were created, archived or deleted in Unleash during each attempt to read all.
var errChanging = errors.New("the toggles in Unleash change while they are read: repeat the command")

// errNoUnleash reports a server with toggles that have no environments.
var errNoUnleash = exitstatus.Errorf(exitstatus.Usage, "the server at this URL is not Unleash: its toggles have no environments")

// search reads all pages.
func (r *client) search(ctx context.Context, project string, archived bool) ([]found, error) {
	for range searches {
		all, complete, err := r.pages(ctx, project, archived)
		if err != nil || complete {
			return all, err
		}
	}
	return nil, errChanging
}

// pages is one attempt. It reports whether it has found as many toggles as there were at the start: the pages are lists
// of different times, and a toggle that is archived meanwhile moves others to the page before.
func (r *client) pages(ctx context.Context, project string, archived bool) (all []found, complete bool, err error) {
	query := url.Values{
		"archived": {"IS:" + strconv.FormatBool(archived)}, "limit": {strconv.Itoa(pageSize)},
		"sortBy": {"createdAt"}, "sortOrder": {"asc"},
	}
	if project != "" {
		query.Set("project", "IS:"+project)
	}
	what := "reading toggles"
	if archived {
		what = "reading archived toggles"
	}
	seen, total := map[string]bool{}, -1
	for {
		query.Set("offset", strconv.Itoa(len(all)))
		var page struct {
			Features []found
			Total    int
		}
		if err := r.get(ctx, "api/admin/search/features", query, &page); err != nil {
			return nil, false, err
		}
		for _, t := range page.Features {
			if t.Environments == nil { // as in this service, whose import would remove all context fields
				return nil, false, errNoUnleash
			}
			seen[t.Name] = true
		}
		if total < 0 {
			total = page.Total
		}
		all = append(all, page.Features...)
		r.Progress(what, len(all), page.Total)
		if len(page.Features) < pageSize {
			return all, len(seen) == total, nil
		}
	}
}

// complete fills toggles with those that were found and the context fields that their strategies use.
func (r *client) complete(ctx context.Context, all []found, toggles []transfer.Toggle) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range Parallel {
		workers.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(all) {
					return
				}
				var err error
				if toggles[i], err = r.toggle(ctx, all[i]); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done++
				r.Progress("reading strategies", done, len(all))
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// toggle adds the context fields to a toggle.
func (r *client) toggle(ctx context.Context, f found) (transfer.Toggle, error) {
	t := transfer.Toggle{
		Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
		Stale: f.Stale, CreatedAt: f.CreatedAt, Archived: f.ArchivedAt != nil, ArchivedAt: f.ArchivedAt,
	}
	noEmptyDescription(&t.Description)
	if f.CreatedBy != nil && f.CreatedBy.Name != "" && f.CreatedBy.Name != "unknown" {
		t.CreatedBy = &f.CreatedBy.Name
	}
	if !feature.ValidName(f.Name) || !feature.ValidProject(f.Project) { // skipped
		return t, nil
	}
	for _, e := range f.Environments {
		if !e.HasStrategies {
			continue
		}
		var strategies []strategy
		path := "api/admin/projects/" + url.PathEscape(f.Project) + "/features/" + url.PathEscape(f.Name) +
			"/environments/" + url.PathEscape(e.Name) + "/strategies"
		if err := r.get(ctx, path, nil, &strategies); err != nil {
			return t, err
		}
		for _, s := range strategies {
			t.ContextFields = append(t.ContextFields, s.fields()...)
		}
	}
	return t, nil
}
