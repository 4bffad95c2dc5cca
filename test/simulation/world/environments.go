package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/dynamo"
)

var environmentNames = []string{"development", "production", "staging"}

// environmentState is what the world knows about environments.
type environmentState struct {
	names  []string               // that the actors compete for
	lowest int                    // the lowest sort order that an actor has chosen
	states map[string][]existence // in their order
}

// existence says whether something exists from a time on.
type existence struct {
	from   time.Time
	exists bool
}

// prepareEnvironments creates all environments but the last one.
func (w *World) prepareEnvironments(store *environment.Store) {
	for _, name := range w.environments.names[:len(w.environments.names)-1] {
		_, err := store.Create(context.Background(), environment.Environment{Name: name, Type: name, Last: true})
		w.must(err)
		w.edit(observed(), "environment", name, "put", edit{change: object{"type": name}})
	}
}

func (a *actor) manageEnvironments() {
	name := subject(a, a.environments.names...)
	if a.IntN(3) == 0 {
		name = a.environments.names[len(a.environments.names)-1] // in which few toggles are on
	}
	c := choose(a, a.admin, a.api)
	switch a.IntN(7) {
	case 0, 1:
		a.meanwhile((*actor).manageEnvironments)
		a.deleteEnvironment(c, name)
		a.createEnvironment(c, name, a.IntN(2) == 0) // at once, and with another clock
	case 2: // two compete for the last place
		other := choose(a, a.environments.names...)
		a.deleteEnvironment(c, name)
		a.deleteEnvironment(c, other)
		a.beforeWrite(func(b *actor) { b.createEnvironment(c, other, true) })
		a.createEnvironment(c, name, true)
	case 3, 4:
		a.updateEnvironment(c, name)
	case 5:
		a.readEnvironment(c, name)
	default:
		a.listEnvironments(c)
	}
}

func (a *actor) createEnvironment(c *credential, name string, last bool) {
	a.n++
	e := edit{change: object{"type": fmt.Sprintf("%s %d", a.name, a.n)}}
	body := maps.Clone(e.change)
	body["name"] = name
	if !last {
		a.environments.lowest -= 1000 // so that the default never is an order that an actor has chosen
		body["sortOrder"] = a.environments.lowest
	}
	a.edit(a.do(c, "POST environments", body), "environment", name, "create", e)
}

// updateEnvironment reads an environment and changes it if it is as it was read, or changes what it is now.
func (a *actor) updateEnvironment(c *credential, name string) {
	seen, match := a.readEnvironment(c, name)
	a.n++
	e := edit{change: object{"type": fmt.Sprintf("%s %d", a.name, a.n)}}
	if a.IntN(4) > 0 {
		e.seen = seen
		a.beforeWrite((*actor).manageEnvironments)
	} else {
		match = nil
	}
	a.edit(a.do(c, "PUT environments/update/"+name, e.change, match...), "environment", name, "update", e)
}

// deleteEnvironment deletes an environment. A deletion that fails has sometimes begun: the environment does not exist,
// and another one with its name is created when the deletion has ended.
func (a *actor) deleteEnvironment(c *credential, name string) {
	a.edit(a.do(c, "DELETE environments/"+name, nil), "environment", name, "delete", edit{})
}

// readEnvironment returns the properties that an ETag is of, and the If-Match that requires them, or nothing.
func (a *actor) readEnvironment(c *credential, name string) (seen object, match []string) {
	var e edit
	o := a.get(c, "environments/"+name, &e.seen)
	a.edit(o, "environment", name, "read", e)
	if !o.ok() || o.etag == "" {
		return nil, nil
	}
	return e.seen, []string{o.etag}
}

func (a *actor) listEnvironments(c *credential) {
	var list struct{ Environments []object }
	if o := a.get(c, "environments", &list); o.ok() {
		a.editListed(o, "environment", a.environments.names, list.Environments, nil)
	}
}

// existingEnvironments returns the names of the environments that exist. One whose deletion has begun does not.
func (w *World) existingEnvironments() (names []string) {
	for _, item := range w.db.Items("Environments") {
		if isEnvironment(item) {
			names = append(names, item.String("name"))
		}
	}
	slices.Sort(names)
	return names
}

func isEnvironment(item dynamo.Item) bool {
	return !strings.Contains(item.String("name"), "#") && !item.Bool("deleted")
}

// checkEnvironments checks that an environment exists if and only if its references are stored, and that no two have
// the same sort order: those that actors choose are different.
func (w *World) checkEnvironments() {
	var counted []string
	orders := map[int64]string{}
	table := environment.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("Environments") {
		if name, ok := table.ResourceOf(item); ok {
			counted = append(counted, name)
		}
		if !isEnvironment(item) {
			continue
		}
		if other := orders[item.Int("sortOrder")]; other != "" {
			w.fail("the environments %s and %s have the sort order %d", other, item.String("name"), item.Int("sortOrder"))
		}
		orders[item.Int("sortOrder")] = item.String("name")
	}
	slices.Sort(counted)
	if existing := w.existingEnvironments(); !slices.Equal(existing, counted) {
		w.fail("the environments are %v, but the references to %v is stored", existing, counted)
	}
}

// changedEnvironment remembers whether an environment exists.
func (w *World) changedEnvironment(c change) {
	name := c.item.String("name")
	if strings.Contains(name, "#") {
		return
	}
	exists := c.next != nil && isEnvironment(c.next)
	if exists && (c.old == nil || !isEnvironment(c.old)) {
		w.checkEmpty(name)
	}
	w.environments.states[name] = append(w.environments.states[name], existence{time.Now(), exists})
}

// checkEmpty checks that no toggle has a state in an environment that begins to exist.
func (w *World) checkEmpty(environment string) {
	for _, item := range w.db.Items("Features") {
		if e, has := w.decodeFeature(item).Environments[environment]; has {
			w.fail("the environment %s begins to exist, and the toggle %s has %v there", environment, item.String("name"), e)
		}
	}
}

// checkEnvironmentUsage compares the references to environments with a recount of the toggles that are on.
func (w *World) checkEnvironmentUsage() {
	recount, stored := map[string]int64{}, map[string]int64{} // by environment and project
	for _, item := range w.db.Items("Features") {
		if !item.Bool("archived") {
			for _, name := range featuretable.UnmarshalRow(item).EnabledIn {
				recount[name+" in "+item.String("project")]++
			}
		}
	}
	table := environment.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("Environments") {
		if name, ok := table.ResourceOf(item); ok {
			used, _ := references.FromItem(item)
			for project, n := range used.ByProject {
				stored[name+" in "+project] = n
			}
		}
	}
	if !maps.Equal(stored, recount) {
		w.fail("the references to the environments is %v, but toggles are on in %v", stored, recount)
	}
}
