// Package references counts what refers to a resource: a context field, a segment or an environment.
//
// The counts of a resource are in an item of their own in its table, which exists if and only if the resource exists.
// The transaction of each write that begins or ends a use changes them, and fails if the resource does not exist. The
// transaction that deletes a resource fails if it is used.
package references

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counts is what uses a resource, or a change of it.
type Counts struct {
	ByProject
	Archived int64 // the number of archived toggles; they use segments only
	Segments int64 // the number of segments; they use context fields only
	Tokens   int64 // the number of client tokens; they belong to environments only
	Roles    int64 // the number of custom roles; they have permissions in environments only

	// Version rises with each write of a constraint or a stickiness that names the context field, and each write by which
	// the strategies of a toggle begin to use the segment in an environment.
	Version int64
}

// ByProject are the numbers of active toggles by project. Projects without such a toggle are left out.
type ByProject map[string]int64

// In returns the numbers of the selected projects.
func (c ByProject) In(selects func(project string) bool) ByProject {
	selected := ByProject{}
	for project, n := range c {
		if selects(project) {
			selected[project] = n
		}
	}
	return selected
}

// Toggles returns the number of active toggles.
func (c ByProject) Toggles() (n int64) {
	for _, toggles := range c {
		n += toggles
	}
	return n
}

// Projects returns the number of projects that have such a toggle.
func (c ByProject) Projects() (n int64) {
	for _, toggles := range c {
		if toggles > 0 {
			n++
		}
	}
	return n
}

// text returns the references for a person to read.
func (u Counts) text() string {
	var all []string
	for _, project := range slices.Sorted(maps.Keys(u.ByProject)) {
		all = append(all, fmt.Sprintf("%s: %d", project, u.ByProject[project]))
	}
	if u.Archived != 0 {
		all = append(all, fmt.Sprintf("archived toggles: %d", u.Archived))
	}
	if u.Segments != 0 {
		all = append(all, fmt.Sprintf("segments: %d", u.Segments))
	}
	if u.Tokens != 0 {
		all = append(all, fmt.Sprintf("client tokens: %d", u.Tokens))
	}
	if u.Roles != 0 {
		all = append(all, fmt.Sprintf("roles: %d", u.Roles))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// same reports whether two have the same numbers.
func (u Counts) same(other Counts) bool {
	return maps.Equal(u.ByProject, other.ByProject) && u.Archived == other.Archived && u.Segments == other.Segments &&
		u.Tokens == other.Tokens && u.Roles == other.Roles
}
