package world

import (
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

// manageTags creates and deletes tag types, and gives toggles tags of them.
func (a *actor) manageTags() {
	name, c := subject(a, a.toggles.names...), choose(a, a.admin, a.api, a.editor)
	tag := toggle.Tag{Type: choose(a, "team", "area"), Value: choose(a, "red", "blue")}
	switch a.IntN(4) {
	case 0:
		a.meanwhile((*actor).manageTags)
		a.do(c, "POST tag-types", object{"name": tag.Type})
	case 1:
		for _, project := range []string{"default", "shop"} {
			a.removeTags(c, project, tag.Type)
		}
		a.beforeWrite(func(b *actor) { b.addTag(c, name, tag) })
		a.do(c, "DELETE tag-types/"+tag.Type, nil)
	case 2:
		a.meanwhile((*actor).manageTags)
		o := a.do(c, "DELETE features/"+name+"/tags/"+tag.Type+"/"+tag.Value, nil)
		a.checkDuring(o, name, "does not have the tag "+tag.String(), func(f *toggle.Feature) bool {
			return f != nil && !f.HasTag(tag)
		})
	default:
		a.meanwhile((*actor).manageTags)
		a.addTag(c, name, tag)
	}
}

func (a *actor) addTag(c *credential, name string, tag toggle.Tag) {
	o := a.do(c, "POST features/"+name+"/tags", object{"type": tag.Type, "value": tag.Value})
	a.checkDuring(o, name, "has the tag "+tag.String(), func(f *toggle.Feature) bool { return f != nil && f.HasTag(tag) })
}

// removeTags removes the tags of a type from the toggles of a project.
func (a *actor) removeTags(c *credential, project, kind string) {
	var names []string
	for _, item := range a.db.Items("Features") {
		if f := featuretable.UnmarshalRow(item).Toggle; f.Project == project && len(f.Tags) > 0 {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	removed := []object{{"type": kind, "value": "red"}, {"type": kind, "value": "blue"}}
	a.do(c, "PUT projects/"+project+"/tags", object{
		"features": names, "tags": object{"addedTags": []object{}, "removedTags": removed},
	})
}

// checkTags requires that the types of all tags exist.
func (w *World) checkTags() {
	exists := map[string]bool{toggle.DefaultTagType: true}
	for _, item := range w.db.Items(accesstable.Table) {
		if item.String(accesstable.Hash) == string(accesstable.KindTagType) {
			exists[item.String(accesstable.Range)] = true
		}
	}
	for _, item := range w.db.Items("Features") {
		f := featuretable.UnmarshalRow(item).Toggle
		for _, kind := range f.TagTypes() {
			if !exists[kind] {
				w.fail("the toggle %s has a tag of the type %s, which does not exist", f.Name, kind)
			}
		}
	}
}
