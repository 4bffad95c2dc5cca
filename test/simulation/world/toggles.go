package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/toggle"
)

// toggleNames have the same shard. Flips of two shards would take ids in the order of their goroutines.
var toggleNames = []string{"t1", "t14", "t21", "t32", "t47", "t50"}

// toggleState is what the world knows about toggles.
type toggleState struct {
	names     []string             // that the actors compete for
	touched   map[string]time.Time // the last writes
	due       map[string]time.Time // when they become potentially stale
	flippedAt map[string]time.Time // the last writes of flags
}

// prepareToggles creates toggles that become potentially stale while the world lives. Many are due together, or when
// actors change them.
func (w *World) prepareToggles(store *feature.Store, random *rand.Rand) {
	var due time.Time
	for i, name := range w.toggles.names {
		for try := 1; due.Before(w.start) || random.IntN(2) == 0 && try < 9; try++ {
			due = w.start.Add(within(random, duration)).Truncate(w.period())
			if w.topic(due, len(w.toggles.names)) == i {
				break
			}
		}
		w.toggles.due[name] = due
		due := due.Add(within(random, 80*time.Millisecond) - 40*time.Millisecond)
		kind := w.types.names[random.IntN(len(w.types.names))]
		age := time.Duration(max(1, w.types.lifetimes[kind][0].days))*24*time.Hour - time.Until(due)
		if i == len(toggleNames)-1 { // it is older than most lifetimes
			age += 30 * 24 * time.Hour
		}
		project := "default"
		if w.delivers && i%3 == 1 { // there are tokens of projects
			project = "shop"
		}
		f := toggle.Feature{
			Name: name, Project: project, Type: kind, CreatedAt: time.Now().Add(-age),
			ContextFields: []string{w.fields.names[random.IntN(len(w.fields.names))]}[:random.IntN(2)],
		}
		_, err := store.Create(context.Background(), f)
		w.must(err)
		w.edit(observed(), "toggle", name, "put",
			edit{change: object{"project": project, "type": kind, "contextFields": f.ContextFields}})
	}
}

func (w *World) changedToggle(c change) {
	w.toggles.touched[c.item.String("name")] = time.Now()
	w.flipped(c)
}

// editToggle does what the console does with toggles.
func (a *actor) editToggle() {
	name, project := subject(a, a.toggles.names...), choose(a, "default", "default", "shop")
	c := choose(a, a.admin, a.api, a.editor)
	on := a.IntN(2) == 0
	switch a.IntN(11) {
	case 0:
		e := edit{project: project, change: object{"project": project, "type": choose(a, a.types.names...), "owner": a.owner()}}
		body := object{"name": name, "type": e.change["type"], "owner": e.change["owner"]}
		a.edit(a.do(c, "POST projects/"+project+"/features", body), "toggle", name, "create", e)
	case 1, 2, 7:
		a.updateToggle(c, name, project)
	case 3:
		a.archiveToggle(c, name, project)
	case 4:
		if a.IntN(2) == 0 {
			a.unmarkAtEnd(c)
			return
		}
		a.markToggles(c, name, project, on)
	case 5:
		seen, match := a.readToggle(c, name, project)
		a.edit(a.do(c, "POST archive/revive/"+name, nil, match...), "toggle", name, "revive",
			edit{seen: seen, change: object{"archived": false}})
	case 6:
		seen, match := a.readToggle(c, name, project)
		a.edit(a.do(c, "DELETE archive/"+name, nil, match...), "toggle", name, "remove", edit{seen: seen})
	case 8:
		if a.IntN(2) == 0 {
			a.moveFlagged(c)
			return
		}
		a.meanwhile((*actor).changeLifetime)
		a.searchByState(c, choose(a, "active", "stale", "potentially-stale", "potentially-stale"))
	case 9:
		a.meanwhile((*actor).editToggle)
		a.ownToggles(c, name, project)
	default:
		a.searchToggles(c, on)
	}
}

// archiveToggle archives a toggle, unless it has children.
func (a *actor) archiveToggle(c *credential, name, project string) {
	seen, match := a.readToggle(c, name, project)
	o := a.do(c, "DELETE "+togglePath(name, project), nil, match...)
	a.edit(o, "toggle", name, "archive", edit{project: project, seen: seen, change: object{"archived": true}})
	if o.status == http.StatusConflict {
		a.checkHeld(o, name, false)
	}
}

func togglePath(name, project string) string { return "projects/" + project + "/features/" + name }

// readToggle sometimes reads a toggle. It returns the members that its ETag is of, and the If-Match that requires them,
// or nothing.
func (a *actor) readToggle(c *credential, name, project string) (seen object, match []string) {
	if a.IntN(2) == 0 {
		return nil, nil
	}
	e := edit{project: project}
	o := a.get(c, togglePath(name, project), &e.seen)
	a.checkShown(o, e.seen)
	a.edit(o, "toggle", name, "read", e)
	if !o.ok() {
		return nil, nil
	}
	a.meanwhile((*actor).editToggle)
	return tagged(e.seen), []string{o.etag}
}

// tagged returns the members of a toggle that its ETag is of.
func tagged(toggle object) object {
	members := object{}
	for _, name := range []string{"type", "description", "stale", "owner", "keepUntil"} {
		members[name] = toggle[name]
	}
	return members
}

// updateToggle reads a toggle, and changes it most of the time only if it is as it was read.
func (a *actor) updateToggle(c *credential, name, project string) {
	e := edit{project: project}
	o := a.get(c, togglePath(name, project), &e.seen)
	a.checkShown(o, e.seen)
	a.edit(o, "toggle", name, "read", e)
	if !o.ok() {
		return
	}
	match := []string{o.etag}
	a.meanwhile((*actor).editToggle)
	a.n++
	description := object{"description": fmt.Sprint(a.name, " ", a.n)}
	e.change = choose(a, object{"type": choose(a, a.types.names...)}, object{"stale": a.IntN(2) == 0}, description,
		description, object{"owner": a.owner()}, object{"keepUntil": a.keepUntil()})
	e.seen = tagged(e.seen)
	if a.IntN(4) == 0 {
		e.seen, match = nil, nil
	}
	a.edit(a.do(c, "PUT "+togglePath(name, project), e.change, match...), "toggle", name, "update", e)
}

// owner returns an owner of toggles that has no account, or nil.
func (a *actor) owner() any {
	return choose[any](a, nil, object{"kind": "text", "name": a.name})
}

// keepUntil returns until when a toggle is kept, which no world sees, or nil.
func (a *actor) keepUntil() any { return choose[any](a, nil, "9999-12-31") }

// ownToggles changes who owns one or two toggles, and until when they are kept, together.
func (a *actor) ownToggles(c *credential, name, project string) {
	names := []string{name}
	if other := choose(a, a.toggles.names...); other != name {
		names = append(names, other)
	}
	change := object{"owner": a.owner(), "keepUntil": a.keepUntil()}
	body := object{"features": names}
	maps.Copy(body, change)
	o := a.do(c, "PUT projects/"+project+"/features", body)
	if o.status == http.StatusNotFound && len(names) > 1 {
		return // it is not known here which one
	}
	for _, name := range names {
		a.edit(o, "toggle", name, "own", edit{project: project, change: maps.Clone(change)})
	}
}

// markToggles marks one or two toggles together.
func (a *actor) markToggles(c *credential, name, project string, stale bool) {
	names := []string{name}
	if other := choose(a, a.toggles.names...); other != name {
		names = append(names, other)
	}
	o := a.do(c, "POST projects/"+project+"/stale", object{"features": names, "stale": stale})
	if o.status == http.StatusNotFound && len(names) > 1 {
		return // it is not known here which one
	}
	for _, name := range names {
		a.edit(o, "toggle", name, "mark", edit{project: project, change: object{"stale": stale}})
	}
}

// unmarkAtEnd marks a toggle as stale whose lifetime ends in the next minutes, and removes the mark when it ends.
func (a *actor) unmarkAtEnd(c *credential) {
	for _, item := range a.db.Items("Features") {
		name, project, days := item.String("name"), item.String("project"), a.lifetime(item.String("type")).days
		ends := item.Time("createdAt").Add(time.Duration(days) * day)
		left := time.Until(ends)
		endsSoon := days > 0 && left >= 10*time.Second && left <= 5*time.Minute
		if !endsSoon || !slices.Contains(a.toggles.names, name) {
			continue
		}
		mark := func(stale bool) {
			o := a.do(c, "POST projects/"+project+"/stale", object{"features": []string{name}, "stale": stale})
			a.edit(o, "toggle", name, "mark", edit{project: project, change: object{"stale": stale}})
		}
		mark(true)
		a.sleep(a.name, time.Until(ends)-within(a.Rand, responseTimeout/2))
		mark(false)
		return
	}
}

// searchToggles lists all toggles that are archived, or the others.
func (a *actor) searchToggles(c *credential, archived bool) {
	var found struct {
		Features []object
		Total    int
	}
	o := a.get(c, fmt.Sprintf("search/features?limit=100&archived=IS:%t", archived), &found)
	if !o.ok() {
		return
	}
	if found.Total != len(found.Features) {
		a.fail("a search lacks toggles: %s", o.response)
	}
	a.editListed(o, "toggle", a.toggles.names, found.Features, object{"archived": archived})
}

// longestLag is how late an index shows a write.
const longestLag = 3 * time.Second

// searchByState lists the toggles in a state. The index of those that are potentially stale shows a write later.
func (a *actor) searchByState(c *credential, state string) {
	flagged := map[string]bool{} // since a time, before the search
	for _, item := range a.db.Items("Features") {
		name := item.String("name")
		if item.Bool("potentiallyStale") && !item.Bool("archived") &&
			a.toggles.touched[name].Before(time.Now().Add(-longestLag)) {
			flagged[name] = true
		}
	}
	var found struct {
		Features []object
		Total    int
	}
	o := a.get(c, "search/features?limit=100&state=IS:"+state, &found)
	if !o.ok() {
		return
	}
	seen := map[string]bool{}
	for _, f := range found.Features {
		name := fmt.Sprint(f["name"])
		if seen[name] {
			a.fail("a search for toggles that are %s returns %s twice", state, name)
		}
		seen[name] = true
		if slices.Contains(a.toggles.names, name) {
			a.edit(o, "toggle", name, "read", edit{seen: f})
		}
		if f["stale"] != (state == "stale") {
			a.fail("a search for toggles that are %s returns %v", state, f)
		}
	}
	if found.Total != len(found.Features) {
		a.fail("a search lacks toggles: %s", o.response)
	}
	for name := range flagged {
		if unchanged := a.toggles.touched[name].Before(o.begun); unchanged && seen[name] != (state == "potentially-stale") {
			a.fail("the toggle %s is potentially stale, and a search for toggles that are %s returns it: %t", name, state,
				seen[name])
		}
	}
}

// moveFlagged searches the toggles that are potentially stale while the type of one of them changes to another one,
// with which it is potentially stale, too.
func (a *actor) moveFlagged(c *credential) {
	for _, item := range a.db.Items("Features") {
		name, project, kind := item.String("name"), item.String("project"), a.types.names[0]
		if kind == item.String("type") {
			kind = a.types.names[len(a.types.names)-1]
		}
		if !slices.Contains(a.toggles.names, name) || !item.Bool("potentiallyStale") || item.Bool("archived") ||
			kind == item.String("type") {
			continue
		}
		if a.lifetime(kind).days != 1 {
			a.setLifetime(a.admin, kind, 1)
		}
		a.before((*call).isQuery, func(b *actor) {
			e := edit{project: project, change: object{"type": kind}}
			b.edit(b.do(c, "PUT "+togglePath(name, project), e.change), "toggle", name, "update", e)
		})
		break
	}
	a.searchByState(c, "potentially-stale")
}

func (a *actor) changeToggle() {
	if a.IntN(6) == 0 {
		a.moveUse(choose(a, a.fields.names...), choose(a, "default", "shop"))
		return
	}
	a.changeOne(subject(a, a.toggles.names...))
}

// moveUse lets the only toggle of a project that uses a field stop to use it, while another one begins to.
func (a *actor) moveUse(field, project string) {
	put := func(a *actor, name string, fields []string) {
		a.operate("put", name, object{"project": project, "contextFields": fields}, func(ctx context.Context) error {
			_, _, _, err := a.operator.PutToggle(ctx, name,
				operator.ToggleChange{Project: &project, ContextFields: &fields})
			return err
		})
	}
	first, second := a.toggles.names[0], a.toggles.names[1]
	for _, item := range a.db.Items("Features") {
		name := item.String("name")
		if name != first && item.String("project") == project && slices.Contains(item.Strings("contextFields"), field) {
			put(a, name, []string{})
		}
	}
	put(a, first, []string{field})
	a.beforeWrite(func(b *actor) { put(b, second, []string{field}) })
	put(a, first, []string{})
}

func (a *actor) changeOne(name string) {
	on := a.IntN(2) == 0
	switch n := a.IntN(6); {
	case a.flips(name) && n < 2 || n == 0 && a.IntN(4) == 0: // otherwise there would soon be no old ones
		a.deleteToggle(name)
		a.putToggle(name, false)
	case n < 4:
		a.putToggle(name, on)
	default:
		property, actions := "stale", map[bool]operator.Action{true: operator.MarkStale, false: operator.UnmarkStale}
		if n == 5 {
			property, actions = "archived", map[bool]operator.Action{true: operator.Archive, false: operator.Revive}
		}
		a.operate("change", name, object{property: on}, func(ctx context.Context) error {
			changes, err := a.operator.ChangeToggles(ctx, []string{name}, actions[on])
			return cmp.Or(err, changes.Err())
		})
	}
}

func (a *actor) deleteToggle(name string) {
	a.operate("delete", name, nil, func(ctx context.Context) error { return a.operator.DeleteToggle(ctx, name) })
}

// putToggle creates or changes a toggle, sometimes its type, and its use of some of the fields.
func (a *actor) putToggle(name string, kind bool, fields ...string) {
	change := operator.ToggleChange{Project: new(choose(a, "default", "shop"))}
	value := object{"project": *change.Project}
	if kind {
		change.Type = new(choose(a, a.types.names...))
		value["type"] = *change.Type
	}
	if fields == nil && a.IntN(2) == 0 {
		fields = []string{subject(a, a.fields.names...)}[:a.IntN(2)]
	}
	if fields != nil {
		change.ContextFields, value["contextFields"] = &fields, fields
	}
	a.operate("put", name, value, func(ctx context.Context) error {
		_, _, _, err := a.operator.PutToggle(ctx, name, change)
		return err
	})
}

// operate runs a command about a toggle. What it has created can be deleted before it has read it.
func (a *actor) operate(kind, name string, change object, run func(context.Context) error) {
	o := a.command(fmt.Sprintf("features %s %s %v", kind, name, change), run)
	if o.ok() || o.unknown || kind == "put" {
		o.unknown = !o.ok()
		a.edit(o, "toggle", name, kind, edit{change: change})
	}
}
