// Package savedview stores the views of the list of toggles that an account has saved under names. They are preferences of
// the account: nobody else sees them, and a change records no event.
//
// The views of an account are one item of the table Access, which is read and replaced as a whole.
package savedview

import (
	"cmp"
	"slices"

	"toggleadmin/pkg/platform/lambdahttp"
)

// View is a search of toggles with a name.
type View struct {
	Name  string `json:"name"`  // unique in an account
	Query string `json:"query"` // of GET /api/admin/search/features, percent-encoded
}

// list is savedViewsSchema in api/openapi.yaml.
type list struct {
	Views []View `json:"views"`
}

// newList returns views in the order of their names.
func newList(views []View) list {
	sorted := append([]View{}, views...)
	slices.SortFunc(sorted, func(a, b View) int { return cmp.Compare(a.Name, b.Name) })
	return list{sorted}
}

// etag returns the entity tag of views, in any order.
func etag(views []View) string { return lambdahttp.ETag(newList(views)) }
