package world

import (
	"slices"
	"strings"

	"toggleadmin/pkg/platform/datetime"
)

// careState is what the world knows about favorites and code references.
type careState struct {
	favorites map[favorite][]bool         // what can be read; without an entry, it is no favorite
	reports   map[repository][]codeReport // those that can be the last one; without an entry, there is none
	unknown   map[repository][]codeReport // those without a result, which can be the last one at any time
	numbers   map[repository]int          // of reports
	unclear   map[aboutToggle]bool        // an actor's request without a result about a toggle can take effect at any time
	restored  bool                        // the tables were: what was stored before can be anything
}

// favorite is a toggle that an actor can have as a favorite. One that is created again is another one.
type favorite struct{ actor, name, createdAt string }

// aboutToggle is what an actor does with a toggle.
type aboutToggle struct{ actor, name string }

// repository is one whose code references an actor reports for a project.
type repository struct{ actor, project string }

// codeReport has the line in which a report found each toggle.
type codeReport map[string]int

func newCareState() careState {
	return careState{
		favorites: map[favorite][]bool{}, reports: map[repository][]codeReport{}, unknown: map[repository][]codeReport{},
		numbers: map[repository]int{}, unclear: map[aboutToggle]bool{},
	}
}

// careForToggles marks a toggle as a favorite, or reports in which lines of a repository toggles are. Each actor has an
// account and a repository of its own, and does one thing at a time.
func (a *actor) careForToggles() {
	if strings.Contains(a.name, "+") {
		return
	}
	if a.IntN(2) == 0 {
		c := a.editor
		if strings.HasSuffix(a.name, "5") {
			c = a.admin
		}
		a.changeFavorite(c)
		return
	}
	a.reportCode(choose(a, a.admin, a.api, a.editor), choose(a, "default", "shop"))
}

// changeFavorite adds or removes a favorite, and reads it before and afterwards.
func (a *actor) changeFavorite(c *credential) {
	name, project := subject(a, a.toggles.names...), choose(a, "default", "default", "shop")
	a.readFavorite(c, name, project)
	is := a.IntN(3) > 0
	method := "DELETE "
	if is {
		method = "POST "
	}
	a.meanwhile((*actor).editToggle)
	o := a.do(c, method+togglePath(name, project)+"/favorites", nil)
	var changed []favorite
	for _, f := range a.statesDuring(o, name) {
		if f != nil {
			changed = append(changed, favorite{a.name, name, datetime.Format(f.CreatedAt)})
		}
	}
	slices.SortFunc(changed, func(a, b favorite) int { return strings.Compare(a.createdAt, b.createdAt) })
	changed = slices.Compact(changed)
	switch {
	case o.unknown:
		a.care.unclear[aboutToggle{a.name, name}] = true
	case o.ok() && len(changed) == 1:
		a.care.favorites[changed[0]] = []bool{is}
	case o.ok():
		for _, f := range changed { // it is not known here which one
			a.care.favorites[f] = []bool{true, false}
		}
	}
	a.readFavorite(c, name, project)
}

// readFavorite reads a toggle, and checks whether it can be a favorite.
func (a *actor) readFavorite(c *credential, name, project string) {
	var seen struct {
		CreatedAt string
		Favorite  bool
	}
	o := a.get(c, togglePath(name, project), &seen)
	if !o.ok() || a.care.restored || a.care.unclear[aboutToggle{a.name, name}] {
		return
	}
	possible, known := a.care.favorites[favorite{a.name, name, seen.CreatedAt}]
	if !known {
		possible = []bool{false}
	}
	if !slices.Contains(possible, seen.Favorite) {
		a.fail("%s reads of the toggle %s, which was created at %s, that it is a favorite: %t, and not %t", a.name, name,
			seen.CreatedAt, seen.Favorite, possible[0])
	}
}

// reportCode makes a report of a repository, and reads what the last one and this one say about a toggle.
func (a *actor) reportCode(c *credential, project string) {
	r, name := repository{a.name, project}, subject(a, a.toggles.names...)
	a.checkCode(c, r, name)
	a.care.numbers[r]++
	next, references := codeReport{}, []object{}
	for _, found := range a.toggles.names {
		if a.IntN(2) == 0 {
			next[found] = a.care.numbers[r]
			references = append(references, object{"path": "main.go", "line": next[found], "toggle": found})
		}
	}
	o := a.do(c, "POST projects/"+project+"/code-references", object{"repository": r.actor, "references": references})
	switch {
	case o.ok():
		a.care.reports[r] = []codeReport{next}
	case o.unknown:
		a.care.unknown[r] = append(a.care.unknown[r], next)
	}
	a.checkCode(c, r, name)
}

// checkCode checks that a toggle has in a repository the line of the last report, whatever others report.
func (a *actor) checkCode(c *credential, r repository, name string) {
	var seen struct {
		Repositories []struct {
			Repository string
			Places     []struct{ Line int }
		}
	}
	o := a.get(c, togglePath(name, r.project)+"/code-references", &seen)
	if !o.ok() || a.care.restored {
		return
	}
	line := 0
	for _, s := range seen.Repositories {
		if s.Repository == r.actor && len(s.Places) > 0 {
			line = s.Places[0].Line
		}
	}
	possible := slices.Concat(a.care.reports[r], a.care.unknown[r])
	if len(a.care.reports[r]) == 0 {
		possible = append(possible, codeReport{})
	}
	if !slices.ContainsFunc(possible, func(report codeReport) bool { return report[name] == line }) {
		a.fail("%s reads that the toggle %s is in the line %d of its repository, and its last reports for the project %s are %v",
			a.name, name, line, r.project, possible)
	}
}
