package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// manageDependencies lets toggles depend on others, ends that, and copies toggles.
func (a *actor) manageDependencies() {
	child, parent := subject(a, a.toggles.names...), choose(a, a.toggles.names...)
	c := choose(a, a.admin, a.api, a.editor)
	switch a.IntN(8) {
	case 0:
		if parent != child && a.IntN(2) == 0 { // so that the copy is created, and of a toggle that is on
			on := activated{child, a.projectOf(child), choose(a, a.environments.names...)}
			a.do(c, "POST "+on.path()+"/on", nil)
			a.deleteToggle(parent)
		}
		a.meanwhile((*actor).editToggle)
		a.cloneToggle(c, child, parent)
	case 1:
		a.meanwhile((*actor).manageDependencies)
		a.releaseParent(c, child)
	case 2, 3:
		a.renameVariant(c, child, parent)
	default:
		a.beforeDependency(c, child, parent)
		a.addDependency(c, child, parent)
	}
}

// projectOf returns the project of a toggle most of the time.
func (a *actor) projectOf(name string) string {
	if f := a.feature(name); f != nil && a.IntN(8) > 0 {
		return f.Project
	}
	return choose(a, "default", "shop")
}

// beforeDependency lets somebody change the toggles of a dependency before it is written, so that it is not possible any
// more, or so that two changes of a parent meet.
func (a *actor) beforeDependency(c *credential, child, parent string) {
	third := choose(a, a.toggles.names...)
	switch a.IntN(6) {
	case 0:
		a.beforeWrite(func(b *actor) { b.archiveToggle(c, parent, b.projectOf(parent)) })
	case 1:
		a.beforeWrite(func(b *actor) { b.addDependency(c, parent, third) })
	case 2:
		a.beforeWrite(func(b *actor) { b.addDependency(c, third, child) })
	case 3:
		a.beforeWrite(func(b *actor) { b.addDependency(c, third, parent) })
	case 4:
		a.beforeWrite(func(b *actor) { b.putToggle(choose(b, child, parent), false) })
	}
}

func (a *actor) addDependency(c *credential, child, parent string) {
	enabled := a.IntN(2) == 0
	body := object{"feature": parent, "enabled": enabled}
	if f := a.feature(parent); f != nil && enabled && len(f.VariantNames()) > 0 && a.IntN(4) > 0 {
		body["variants"] = f.VariantNames()[:1]
	}
	o := a.do(c, "POST "+togglePath(child, a.projectOf(child))+"/dependencies", body)
	a.checkDuring(o, child, "depends on "+parent, func(f *toggle.Feature) bool {
		return f != nil && f.Dependency != nil && f.Dependency.Feature == parent && f.Dependency.Enabled == enabled
	})
}

// renameVariant lets a toggle depend on a variant of another one, most of the time turns both on, and then gives the
// variant another name, or removes it. Half of the times it takes that back, without a change of the child.
func (a *actor) renameVariant(c *credential, child, parent string) {
	if f := a.feature(child); f != nil && f.Dependency != nil {
		parent = f.Dependency.Feature
	}
	on := activated{parent, a.projectOf(parent), choose(a, environmentNames[:2]...)}
	a.putVariant(c, on, "blue")
	body := object{"feature": parent, "variants": []string{"blue"}}
	a.do(c, "POST "+togglePath(child, a.projectOf(child))+"/dependencies", body)
	if a.IntN(4) > 0 {
		of := activated{child, a.projectOf(child), on.environment}
		if len(a.strategies(of)) == 0 {
			a.do(c, "POST "+of.path()+"/strategies", object{"name": "default"})
		}
		a.do(c, "POST "+of.path()+"/on?shouldActivateDisabledStrategies=true", nil)
		a.do(c, "POST "+on.path()+"/on?shouldActivateDisabledStrategies=true", nil)
	}
	compiled := func() { a.sleep(a.name, within(a.Rand, 6*time.Second)) } // meanwhile, a snapshot of it can be
	compiled()
	a.putVariant(c, on, choose(a, "green", ""))
	if a.IntN(2) == 0 {
		compiled()
		a.putVariant(c, on, "blue")
	}
}

// putVariant gives the first strategy of a toggle in an environment a variant, or none, instead of those that it has.
func (a *actor) putVariant(c *credential, on activated, name string) {
	body := object{"name": "flexibleRollout", "variants": []object{}}
	if name != "" {
		body["variants"] = []object{{"name": name, "weightType": "variable"}}
	}
	if all := a.strategies(on); len(all) > 0 {
		a.do(c, "PUT "+on.path()+"/strategies/"+all[0].ID, body)
	} else {
		a.do(c, "POST "+on.path()+"/strategies", body)
	}
}

// releaseParent ends the dependency that a toggle has, or another one.
func (a *actor) releaseParent(c *credential, child string) {
	parent := choose(a, a.toggles.names...)
	if f := a.feature(child); f != nil && f.Dependency != nil && a.IntN(4) > 0 {
		parent = f.Dependency.Feature
	}
	o := a.do(c, "DELETE "+togglePath(child, a.projectOf(child))+"/dependencies/"+parent, nil)
	a.checkDuring(o, child, "does not depend on "+parent, func(f *toggle.Feature) bool {
		return f != nil && (f.Dependency == nil || f.Dependency.Feature != parent)
	})
}

// cloneToggle copies a toggle. The copy is off everywhere, and has the strategies but not the dependency of the toggle.
func (a *actor) cloneToggle(c *credential, name, copied string) {
	project := a.projectOf(name)
	o := a.do(c, "POST "+togglePath(name, project)+"/clone", object{"name": copied})
	e := edit{project: project, change: object{}}
	switch {
	case o.ok():
		a.decode(o, &e.change)
		a.edit(o, "toggle", copied, "create", e)
		a.checkCopy(o, name, copied)
	case o.unknown:
		a.edit(o, "toggle", copied, "unclear", e)
	case strings.Contains(o.response, "NameExistsError"):
		a.edit(o, "toggle", copied, "create", e)
	}
}

// checkCopy checks that at some time of a request, a toggle was the copy of what another one was at some time of it.
func (w *World) checkCopy(o *op, name, copied string) {
	titles := func(f *toggle.Feature) (all []string) {
		for _, environment := range slices.Sorted(maps.Keys(f.Environments)) {
			for _, s := range f.Environments[environment].Strategies {
				all = append(all, environment+" "+titleOf(s))
			}
		}
		return all
	}
	w.checkDuring(o, copied, "is a copy of "+name, func(f *toggle.Feature) bool {
		isCopy := func(source *toggle.Feature) bool {
			return source != nil && source.Type == f.Type && source.Project == f.Project &&
				reflect.DeepEqual(source.Description, f.Description) && slices.Equal(titles(source), titles(f))
		}
		return f != nil && f.Dependency == nil && !f.Archived && len(f.EnabledEnvironments()) == 0 && w.was(o, name, isCopy)
	})
}

// checkDuring checks that what a success says about a toggle was true at some time while the request was handled.
func (w *World) checkDuring(o *op, name, what string, holds func(*toggle.Feature) bool) {
	if o.ok() && !w.was(o, name, holds) {
		w.fail("a request of %s succeeds, but there was no time at which %s %s", o.actor, name, what)
	}
}

// was reports whether something was true about a toggle at some time of an operation.
func (w *World) was(o *op, name string, holds func(*toggle.Feature) bool) bool {
	for i, s := range w.activation.toggles[name] {
		if during(o, w.activation.toggles[name], i, func(s toggleAt) time.Time { return s.from }) && holds(s.feature) {
			return true
		}
	}
	return false
}

// checkHeld checks that a toggle which was not archived or moved because of its children or its parent, had them at some
// time of the operation.
func (w *World) checkHeld(o *op, name string, parent bool) {
	if !w.was(o, name, func(f *toggle.Feature) bool {
		return f != nil && (len(f.Children) > 0 || parent && f.Dependency != nil)
	}) {
		w.fail("an operation of %s fails because of the dependencies of %s, which had none: %s", o.actor, name, o.response)
	}
}

// checkFamilies checks the dependencies of all toggles: the children of a toggle are those that depend on it, both are of
// one project, no toggle has a parent and children, and none with children is archived.
func (w *World) checkFamilies() {
	toggles, children := map[string]*toggle.Feature{}, map[string][]string{}
	for _, item := range w.db.Items("Features") {
		f := w.decodeFeature(item)
		toggles[f.Name] = f
		if f.Dependency != nil {
			children[f.Dependency.Feature] = append(children[f.Dependency.Feature], f.Name)
		}
	}
	for name, depend := range children {
		slices.Sort(depend)
		parent := toggles[name]
		switch {
		case parent == nil:
			w.fail("%v depend on the toggle %s, which does not exist", depend, name)
			return
		case parent.Archived:
			w.fail("%v depend on the toggle %s, which is archived", depend, name)
		case parent.Dependency != nil:
			w.fail("%v depend on the toggle %s, which depends on %s", depend, name, parent.Dependency.Feature)
		}
		for _, child := range depend {
			if toggles[child].Project != parent.Project {
				w.fail("the toggle %s depends on %s, which is of another project", child, name)
			}
		}
	}
	for name, f := range toggles {
		if !slices.Equal(f.Children, children[name]) {
			w.fail("the children of the toggle %s are %v, but %v depend on it", name, f.Children, children[name])
		}
	}
}

// checkDependencyRecorded checks that the events of a call about a toggle explain what has changed about its dependency.
// The events of a creation and a deletion contain it.
func (w *World) checkDependencyRecorded(c change, events []dynamo.Item) {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	var expected, recorded []string
	if before != nil && after != nil && !reflect.DeepEqual(before.Dependency, after.Dependency) {
		if before.Dependency != nil {
			expected = append(expected, fmt.Sprint(eventlog.FeatureDependencyRemoved, *before.Dependency))
		}
		if after.Dependency != nil {
			expected = append(expected, fmt.Sprint(eventlog.FeatureDependencyAdded, *after.Dependency))
		}
	}
	for _, item := range events {
		kind := item.String(eventlog.AttributeType)
		if kind != string(eventlog.FeatureDependencyRemoved) && kind != string(eventlog.FeatureDependencyAdded) {
			continue
		}
		var d toggle.Dependency
		w.must(json.Unmarshal([]byte(item.String(eventlog.AttributeData)), &d))
		recorded = append(recorded, fmt.Sprint(kind, d))
	}
	if !slices.Equal(expected, recorded) {
		w.fail("the dependency of %s changes: %v, but the events are %v", c.item.String("name"), expected, recorded)
	}
}

// changesOnlyChildren reports whether a change of a toggle changes nothing but its children. That has no event of the
// toggle, but one of each child. The version of the toggle rises.
func (w *World) changesOnlyChildren(c change) bool {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	if before == nil || after == nil || slices.Equal(before.Children, after.Children) {
		return false
	}
	for _, child := range slices.Concat(before.Children, after.Children) {
		changes := slices.Contains(before.Children, child) != slices.Contains(after.Children, child)
		if changes && w.lastEvent("toggle:"+child) < c.old.Int("event") {
			w.fail("the children of %s change by %s, which has no event", after.Name, child)
		}
	}
	if after.LastEvent <= before.LastEvent {
		w.fail("the children of %s change, and its version does not", after.Name)
	}
	before.Children = after.Children
	return !before.Differs(*after)
}
