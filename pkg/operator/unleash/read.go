package unleash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
)

const (
	// Parallel is the maximum number of concurrent requests.
	Parallel = 4

	pageSize = 100 // the maximum of Unleash's search
	// maxToggles is more than this service can search.
	maxToggles = 100_000
	// searches is how often all toggles are read if they change meanwhile.
	searches = 3
)

// found is a toggle in a list of Unleash.
type found struct {
	Name, Project, Type string
	Description         *string
	ImpressionData      bool
	Stale               bool
	CreatedAt           *string
	ArchivedAt          *string
	CreatedBy           *struct{ Name string }
	Environments        []environment
	DependencyType      string // parent, child, or empty
	Tags                []toggle.Tag

	PotentiallyStaleAt json.RawMessage // this service has it, Unleash has not
}

// environment is an environment of a toggle. Old versions of Unleash leave out properties.
type environment struct {
	Name          string
	Type          string // empty: unknown
	SortOrder     int64
	Enabled       bool
	HasStrategies *bool // nil: unknown
	VariantCount  *int  // nil: unknown
	LastSeenAt    *string
}

// Read reads the types, the context fields, the environments, the projects, the segments, the toggles, archived ones
// too, people, groups, custom roles, and who has which roles in projects. If project is not empty, it reads only the toggles of that project, which must exist. Unleash limits the speed, to 1,500 toggles per minute.
func Read(ctx context.Context, c Config, project string) (transfer.Document, error) {
	base, err := parseURL(c.URL)
	if err != nil {
		return transfer.Document{}, err
	}
	r := &client{Config: c, base: base}
	d := newDocument()
	var types struct{ Types []toggle.Type }
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
	var environments struct{ Environments []transfer.Environment }
	if err := r.get(ctx, "api/admin/environments", nil, &environments); err != nil {
		return d, err
	}
	d.Environments = environments.Environments
	if d.Projects, err = r.projects(ctx, project); err != nil {
		return d, err
	}
	if d.Segments, err = r.segments(ctx); err != nil {
		return d, err
	}
	if d.TagTypes, err = r.tagTypes(ctx); err != nil {
		return d, err
	}
	toggles, err := r.toggles(ctx, project)
	if err != nil {
		return d, err
	}
	if project != "" && len(toggles) == 0 && d.Projects == nil {
		return d, exitstatus.Errorf(exitstatus.Failure,
			"Unleash has no project %q with toggles, or the token may not see it", project)
	}
	if r.readsLinks, err = r.hasLinks(ctx); err != nil {
		return d, err
	}
	all := make([]element, len(toggles))
	if err := r.complete(ctx, toggles, all); err != nil {
		return d, err
	}
	for _, e := range all {
		e.addTo(&d)
	}
	d.Unlisted, d.Complete = unlisted(d.Environments, toggles), true
	if d.Others, err = r.others(ctx); err != nil {
		return d, err
	}
	if err := r.overviews(ctx, &d); err != nil {
		return d, err
	}
	return d, r.access(ctx, &d)
}

// unlisted returns the environments that toggles have, and that the list of environments lacks. Open-source versions list
// only those that they create themselves.
func unlisted(listed []transfer.Environment, toggles []found) []transfer.Environment {
	known := map[string]bool{"": true}
	for _, e := range listed {
		known[e.Name] = true
	}
	var all []transfer.Environment
	for _, t := range toggles {
		for _, e := range t.Environments {
			if !known[e.Name] {
				known[e.Name] = true
				all = append(all, transfer.Environment{Name: e.Name, Type: cmp.Or(e.Type, unknownType), SortOrder: e.SortOrder})
			}
		}
	}
	return all
}

// unknownType is the type of an environment that has none where it comes from: the one that people are careful with.
const unknownType = "production"

// segments returns the segments. Versions before 4.13 have none.
func (r *client) segments(ctx context.Context) ([]transfer.Segment, error) {
	var list struct{ Segments []transfer.Segment }
	err := r.get(ctx, "api/admin/segments", nil, &list)
	if hasStatus(err, http.StatusNotFound, http.StatusOK) { // a wrong path is 404, or 200 and a page
		return nil, nil
	}
	normalizeSegments(list.Segments)
	return list.Segments, err
}

// tagTypes returns the tag types. Versions before 3.10 have none.
func (r *client) tagTypes(ctx context.Context) ([]transfer.TagType, error) {
	var list struct{ TagTypes []transfer.TagType }
	err := r.get(ctx, "api/admin/tag-types", nil, &list)
	if hasStatus(err, http.StatusNotFound, http.StatusOK) { // a wrong path is 404, or 200 and a page
		return nil, nil
	}
	return list.TagTypes, err
}

// normalizeSegments removes empty descriptions and projects, and white space around names, which is not permitted here.
func normalizeSegments(all []transfer.Segment) {
	for i := range all {
		s := &all[i]
		s.Name = strings.TrimSpace(s.Name)
		noEmptyDescription(&s.Description)
		noEmptyDescription(&s.Project)
	}
}

// noEmptyDescription replaces an empty description by none, as Unleash's pages show it.
func noEmptyDescription(text **string) {
	if *text != nil && **text == "" {
		*text = nil
	}
}

// toggles returns the toggles, those that are not archived first, ordered by the time of their creation.
func (r *client) toggles(ctx context.Context, project string) ([]found, error) {
	all, err := r.search(ctx, project, false)
	if err != nil {
		return nil, err
	}
	archived, err := r.search(ctx, project, true)
	// Versions before 6.4 ignore the parameter. If nothing was found, that cannot be seen.
	if errors.Is(err, errArchivedIgnored) || err == nil && len(all)+len(archived) == 0 {
		archived, err = r.archive(ctx, project)
	}
	if err != nil {
		return nil, err
	}
	all = append(all, archived...)
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

// archive returns the archived toggles from the list that versions before 6.4 have. It is empty for a version without
// the list.
func (r *client) archive(ctx context.Context, project string) (toggles []found, err error) {
	r.Progress("reading archived toggles", 0, 0)
	var list struct{ Features []found }
	err = r.get(ctx, "api/admin/archive/features", nil, &list)
	if hasStatus(err, http.StatusNotFound, http.StatusOK) { // a wrong path is 404, or 200 and a page
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var known struct{ Environments []environment } // the list does not have those of the toggles
	if err := r.get(ctx, "api/admin/environments", nil, &known); err != nil {
		return nil, err
	}
	for i := range known.Environments {
		known.Environments[i].Enabled = false // it is not the switch of a toggle
	}
	for _, t := range list.Features {
		if t.ArchivedAt == nil {
			return nil, errArchivedIgnored
		}
		if project == "" || t.Project == project {
			t.Environments = known.Environments
			toggles = append(toggles, t)
		}
	}
	return toggles, nil
}

var (
	// errChanging reports that toggles were created, archived or deleted in Unleash during each attempt to read all.
	errChanging = errors.New("the toggles in Unleash change while they are read: repeat the command")

	// errNoUnleash reports a server with toggles that have no environments.
	errNoUnleash = exitstatus.Errorf(exitstatus.Usage,
		"the server at this URL is not Unleash: its toggles have no environments")

	// errOwn reports a server whose toggles have a property that Unleash does not have. An export has more of them.
	errOwn = exitstatus.Errorf(exitstatus.Usage, "the server at this URL is not Unleash, but an installation of this "+
		"service: use `toggleadmin export` and `toggleadmin import file`")

	// errArchivedIgnored reports that archived toggles were requested, and others were returned, or the reverse.
	errArchivedIgnored = errors.New("this version of Unleash does not say which toggles are archived: it is too old")

	errProjectIgnored = errors.New("this version of Unleash does not select the toggles of a project: it is too old; " +
		"import without --project")
	errOffsetIgnored = errors.New("this version of Unleash returns the same toggles again for the next page: it is too old")
	errNoTotal       = errors.New("the search of Unleash does not return the number of toggles: it is too old")
	errTooMany       = fmt.Errorf("the search of Unleash returns more toggles than it counts, or more than %d", maxToggles)
)

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
// of different times, and a toggle that is archived meanwhile moves others to the page before. It returns an error if
// Unleash has ignored a parameter, as it does with those that a version does not know.
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
			Total    *int
		}
		if err := r.get(ctx, "api/admin/search/features", query, &page); err != nil {
			return nil, false, err
		}
		if page.Total == nil {
			return nil, false, errNoTotal
		}
		before := len(seen)
		for _, t := range page.Features {
			if err := t.check(project, archived); err != nil {
				return nil, false, err
			}
			seen[t.Name] = true
		}
		if len(page.Features) > 1 && len(seen) == before {
			return nil, false, errOffsetIgnored
		}
		if total < 0 {
			total = *page.Total
		}
		all = append(all, page.Features...)
		if len(all) > min(total+pageSize, maxToggles) {
			return nil, false, errTooMany
		}
		r.Progress(what, len(all), *page.Total)
		if len(page.Features) == 0 || len(all) >= *page.Total {
			return all, len(seen) == total, nil
		}
	}
}

// check returns an error if a toggle is not one that was asked for.
func (f found) check(project string, archived bool) error {
	switch {
	case f.PotentiallyStaleAt != nil:
		return errOwn
	case f.Environments == nil:
		return errNoUnleash
	case project != "" && f.Project != project:
		return errProjectIgnored
	case archived != (f.ArchivedAt != nil):
		return errArchivedIgnored
	}
	return nil
}

// complete fills elements with the toggles that were found and their strategies.
func (r *client) complete(ctx context.Context, all []found, elements []element) error {
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
				if elements[i], err = r.toggle(ctx, all[i]); err != nil {
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

// toggle reads the states of a toggle in the environments.
func (r *client) toggle(ctx context.Context, f found) (element, error) {
	t := element{FeatureJSON: toggle.FeatureJSON{
		Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
		Stale: f.Stale, CreatedAt: f.CreatedAt, Archived: f.ArchivedAt != nil, ArchivedAt: f.ArchivedAt, Tags: f.Tags,
	}}
	noEmptyDescription(&t.Description)
	if f.CreatedBy != nil && f.CreatedBy.Name != "" && f.CreatedBy.Name != "unknown" {
		t.CreatedBy = &f.CreatedBy.Name
	}
	importable := toggle.CheckFeatureName(f.Name) == nil && toggle.CheckName(f.Project) == nil
	if !importable { // the import skips it and says why
		return t, nil
	}
	for _, e := range f.Environments {
		if err := r.addEnvironment(ctx, &t, e); err != nil {
			return t, err
		}
		if e.LastSeenAt != nil && e.Name != "" {
			if t.lastSeen == nil {
				t.lastSeen = map[string]string{}
			}
			t.lastSeen[e.Name] = *e.LastSeenAt
		}
	}
	if f.DependencyType != "child" && (!r.readsLinks || t.Archived) {
		return t, nil
	}
	var full struct {
		Dependencies []toggle.Dependency
		Links        []toggle.Link
	}
	path := "api/admin/projects/" + url.PathEscape(t.Project) + "/features/" + url.PathEscape(t.Name)
	err := r.get(ctx, path, nil, &full)
	if t.Archived && hasStatus(err, http.StatusNotFound) { // Unleash has no operation that shows more of it
		t.note("its dependency was not imported: Unleash does not show those of archived toggles")
		return t, nil
	}
	if err != nil {
		return t, err
	}
	t.Links = full.Links
	for i := range t.Links {
		noEmptyDescription(&t.Links[i].Title)
	}
	if f.DependencyType == "child" {
		t.setDependency(full.Dependencies)
	}
	return t, nil
}

// addEnvironment adds the state of a toggle in an environment.
func (r *client) addEnvironment(ctx context.Context, t *element, e environment) error {
	path := "api/admin/projects/" + url.PathEscape(t.Project) + "/features/" + url.PathEscape(t.Name) +
		"/environments/" + url.PathEscape(e.Name)
	if e.Name == "" { // Unleash's environment of a toggle that has none
		return nil
	}
	var strategies []strategy
	if e.HasStrategies == nil || *e.HasStrategies {
		err := r.get(ctx, path+"/strategies", nil, &strategies)
		if e.HasStrategies == nil && hasStatus(err, http.StatusNotFound) { // the toggle is not in this environment
			return nil
		}
		if err != nil {
			return err
		}
	}
	var variants struct{ Variants []variant }
	if e.VariantCount == nil || *e.VariantCount > 0 {
		if err := r.get(ctx, path+"/variants", nil, &variants); err != nil {
			return err
		}
	}
	t.setEnvironment(e.Name, e.Enabled, strategies, variants.Variants)
	return nil
}
