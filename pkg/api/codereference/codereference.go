// Package codereference stores in which places of source code the names of toggles occur, as pipelines report it.
//
// A report has what a pipeline found in one revision of a repository, and replaces the previous one of the repository
// for the project. It is one item of the table Access, with its places compressed: lists read one item for each repository,
// and none for each toggle. The transaction that writes it requires that the project is active, and a deletion of the
// project deletes its reports. Places belong to names, so that they need no change when a toggle is archived, deleted or
// moved: a toggle has the places that the reports of its project have for its name.
//
// Reports record no event. They say what is in repositories, and change nothing that people decide here.
package codereference

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxPlaces is the maximum number of places of a report.
	MaxPlaces = 10_000
	// MaxRepositories is the maximum number of repositories that report for a project.
	MaxRepositories = 50
	// maxGone is the maximum number of toggles that a report no longer has.
	maxGone = 2000
)

// Place is a line of a file that has the name of a toggle.
type Place struct {
	Path string `json:"path"` // in the repository, with slashes
	Line int64  `json:"line"` // from 1
}

// Report is what a pipeline found in a repository.
type Report struct {
	Project    string
	Repository string    // its URL, or any other name
	Revision   string    // empty: unknown
	RevisionAt time.Time // when the revision was made, or when it was reported
	ReportedAt time.Time
	Places     map[string][]Place   // by the name of the toggle, ordered by path and line
	Gone       map[string]time.Time // toggles that earlier reports had, and when the first one without them came
}

// replace completes a report that replaces another one, which is the zero value if there is none. It returns the names of
// the toggles that only the new one has, and of those that only the old one has, sorted.
func (r *Report) replace(old Report) (added, removed []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Places)) {
		if old.Places[name] == nil {
			added = append(added, name)
		}
	}
	r.Gone = map[string]time.Time{}
	for name, at := range old.Gone {
		if r.Places[name] == nil {
			r.Gone[name] = at
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old.Places)) {
		if r.Places[name] == nil {
			removed = append(removed, name)
			r.Gone[name] = r.ReportedAt
		}
	}
	newest := slices.SortedFunc(maps.Keys(r.Gone), func(a, b string) int {
		return cmp.Or(r.Gone[b].Compare(r.Gone[a]), cmp.Compare(a, b))
	})
	for _, name := range newest[min(len(newest), maxGone):] {
		delete(r.Gone, name)
	}
	return added, removed
}

// normalized returns places in their order, without duplicates.
func normalized(places []Place) []Place {
	return slices.Compact(slices.SortedFunc(slices.Values(places), func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	}))
}

// count returns the number of places of a report.
func (r Report) count() (n int) {
	for _, places := range r.Places {
		n += len(places)
	}
	return n
}

// absentSince returns since when the reports of a project have no place of a toggle: the time of the report that had none
// for the first time. It returns nil if one of them has a place, or if none had one since the toggle was created.
func absentSince(reports []Report, name string, createdAt time.Time) *time.Time {
	var last *time.Time
	for _, r := range reports {
		if r.Places[name] != nil {
			return nil
		}
		if at, ok := r.Gone[name]; ok && at.After(createdAt) && (last == nil || at.After(*last)) {
			last = &at
		}
	}
	return last
}

// Link returns the URL of a place on GitHub or GitLab, or nil if the repository is not the https URL of a repository
// there. Without a revision it is that of the default branch.
func Link(repository, revision string, place Place) *string {
	address, err := url.Parse(repository)
	if err != nil || address.Scheme != "https" {
		return nil
	}
	var view string
	switch host := address.Hostname(); {
	case isHost(host, "github"):
		view = "blob"
	case isHost(host, "gitlab"):
		view = "-/blob"
	default:
		return nil
	}
	address.Path = strings.TrimSuffix(strings.TrimSuffix(address.Path, "/"), ".git")
	linked := address.JoinPath(view, cmp.Or(revision, "HEAD"), place.Path)
	linked.Fragment = "L" + strconv.FormatInt(place.Line, 10)
	return new(linked.String())
}

// isHost reports whether a host is one of a product: github.com, or one such as github.example.com.
func isHost(host, product string) bool {
	return host == product+".com" || strings.HasPrefix(host, product+".")
}
