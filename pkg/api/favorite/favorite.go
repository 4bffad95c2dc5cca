// Package favorite stores which toggles and projects an account has marked as favorites. They are preferences of the
// account: nobody else sees them, and a change records no event.
//
// The favorites of an account are one item of the table Access with two sets, so that a list reads one item. An element of
// a set has the time of the creation of the toggle or project besides its name: one that is created again with the name
// of a deleted one is no favorite.
package favorite

import (
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// Limit is the maximum number of toggles, and that of projects, that an account has as favorites. Deleted ones count.
const Limit = 1000

// Favorite is a toggle or a project that can be a favorite.
type Favorite struct{ set, element string }

// The sets of the item of an account.
const (
	setFeatures = "features"
	setProjects = "projects"
)

// Feature returns a toggle.
func Feature(f toggle.Feature) Favorite { return newFavorite(setFeatures, f.Name, f.CreatedAt) }

// Project returns a project.
func Project(p *access.Project) Favorite {
	var createdAt time.Time
	if p.CreatedAt != nil {
		createdAt = *p.CreatedAt
	}
	return newFavorite(setProjects, p.ID, createdAt)
}

func newFavorite(set, name string, createdAt time.Time) Favorite {
	return Favorite{set, name + " " + strconv.FormatInt(createdAt.UnixMilli(), 10)} // names have no space
}

// Favorites are the favorites of an account.
type Favorites struct{ sets map[string][]string } // the elements of a set are sorted

// Has reports whether a toggle or a project is one of them.
func (f Favorites) Has(favorite Favorite) bool {
	_, found := slices.BinarySearch(f.sets[favorite.set], favorite.element)
	return found
}
