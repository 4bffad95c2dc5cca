package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/toggle"
)

// segmentState is what the world knows about segments.
type segmentState struct {
	ids     []int64                   // of those that were created
	highest int64                     // id of those that were stored
	named   map[string][]segmentName  // by id, in their order
	states  map[int64][]storedSegment // by id, in their order
}

// storedSegment is a segment from a time on; nil: it does not exist.
type storedSegment struct {
	from    time.Time
	segment *segmenttable.Segment
}

// text returns what the result of a change depends on: the constraints, or all that a change of the segment can change.
func (s storedSegment) text(whole bool) string {
	switch {
	case s.segment == nil:
		return "missing"
	case whole:
		return string(encode([]any{s.segment.Name, s.segment.Description, s.segment.Project, s.segment.Constraints}))
	}
	return string(encode(s.segment.Constraints))
}

// has reports whether the segment has the constraints of a payload. One without constraints is that of a deletion.
func (s storedSegment) has(payload object) bool {
	if payload["constraints"] == nil {
		return s.segment == nil
	}
	var constraints []toggle.Constraint
	if err := json.Unmarshal(encode(payload["constraints"]), &constraints); err != nil {
		panic(err)
	}
	return s.segment != nil && reflect.DeepEqual(s.segment.Constraints, constraints)
}

var segmentNames = []string{"beta", "Beta", "staff"}

// manageSegments creates, changes, deletes and reads segments.
func (a *actor) manageSegments() {
	c := choose(a, a.admin, a.api, a.editor)
	if len(a.segments.ids) == 0 {
		a.createSegment(c)
		return
	}
	id := subject(a, a.segments.ids[max(0, len(a.segments.ids)-3):]...)
	switch a.IntN(6) {
	case 0, 1:
		a.meanwhile((*actor).manageSegments)
		a.createSegment(c)
	case 2:
		a.meanwhile((*actor).editStrategies)
		a.edit(a.do(c, fmt.Sprint("DELETE segments/", id), nil), "segment", fmt.Sprint(id), "delete", edit{})
	case 3:
		a.readSegment(c, id)
	default:
		a.updateSegment(c, id)
	}
}

func (a *actor) createSegment(c *credential) {
	a.n++
	e := edit{change: object{"description": fmt.Sprintf("%s %d", a.name, a.n)}}
	body := maps.Clone(e.change)
	body["name"], body["constraints"] = choose(a, segmentNames...), a.constraints()
	a.meanwhile((*actor).editField)
	o := a.do(c, "POST segments", body)
	if !o.ok() {
		return
	}
	var created struct{ ID int64 }
	a.decode(o, &created)
	a.segments.ids = append(a.segments.ids, created.ID)
	a.edit(o, "segment", fmt.Sprint(created.ID), "create", e)
}

// updateSegment reads a segment, and changes it most of the time only if it is as it was read.
func (a *actor) updateSegment(c *credential, id int64) {
	seen, match := a.readSegment(c, id)
	a.n++
	e := edit{change: object{"description": fmt.Sprintf("%s %d", a.name, a.n)}, seen: seen}
	body := maps.Clone(e.change)
	if a.IntN(2) == 0 {
		body["constraints"] = a.constraints()
	}
	if a.IntN(4) == 0 {
		body["name"] = choose(a, segmentNames...)
	}
	a.meanwhile(choose(a, (*actor).manageSegments, (*actor).editField))
	o := a.do(c, fmt.Sprint("PUT segments/", id), body, match...)
	if o.status != http.StatusBadRequest { // the context field does not exist, or the value is not legal
		a.edit(o, "segment", fmt.Sprint(id), "update", e)
	}
}

// readSegment returns the properties of a segment, and the If-Match that requires them, or nothing.
func (a *actor) readSegment(c *credential, id int64) (seen object, match []string) {
	var e edit
	o := a.get(c, fmt.Sprint("segments/", id), &e.seen)
	a.edit(o, "segment", fmt.Sprint(id), "read", e)
	if !o.ok() || o.etag == "" {
		return nil, nil
	}
	return e.seen, []string{o.etag}
}

// segmentOf returns the id of the segment of a change.
func (w *World) segmentOf(c change) int64 {
	id, err := segmenttable.ID(c.item)
	w.must(err)
	return id
}

// storedSegment returns a segment as it is after a change.
func (w *World) storedSegment(c change) storedSegment {
	s := storedSegment{from: time.Now()}
	if c.next != nil {
		segment, err := segmenttable.Unmarshal(c.next)
		w.must(err)
		s.segment = &segment
	}
	return s
}

// changedSegment checks a segment that is written. The id of a new one is higher than those of all others before it.
func (w *World) changedSegment(c change) {
	if !segmenttable.IsSegment(c.item) {
		return
	}
	id := w.segmentOf(c)
	if w.segments.states[id] = append(w.segments.states[id], w.storedSegment(c)); c.old != nil {
		return
	}
	if id <= w.segments.highest {
		w.fail("the segment %d is created after the segment %d", id, w.segments.highest)
	}
	w.segments.highest = id
}

// checkSegments compares the references to segments with a recount of the toggles, and that of context fields by
// segments with a recount of the segments. Names of segments are unique without regard to letter case.
func (w *World) checkSegments() {
	recount, stored := map[string]references.Counts{}, map[string]references.Counts{}
	names, byField := map[string]string{}, map[string]int64{}
	table := segment.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("Segments") {
		if id, ok := table.ResourceOf(item); ok {
			used, _ := references.FromItem(item)
			stored[id] = references.Counts{ByProject: used.ByProject, Archived: used.Archived}
			continue
		}
		if !segmenttable.IsSegment(item) {
			continue
		}
		s, err := segmenttable.Unmarshal(item)
		w.must(err)
		id, name := segmenttable.Name(s.ID), strings.ToLower(s.Name)
		recount[id] = references.Counts{ByProject: references.ByProject{}}
		if other := names[name]; other != "" {
			w.fail("the segments %s and %s have the name %s", other, id, s.Name)
		}
		names[name] = id
		fields := map[string]bool{}
		for _, c := range s.Constraints {
			if !toggle.IsFixedField(c.ContextName) && !fields[c.ContextName] {
				fields[c.ContextName] = true
				byField[c.ContextName]++
			}
		}
	}
	for _, item := range w.db.Items("Features") {
		for _, n := range featuretable.UnmarshalRow(item).Segments {
			id := segmenttable.Name(n)
			u, exists := recount[id]
			if !exists {
				w.fail("the toggle %s uses the segment %s, which does not exist", item.String("name"), id)
				return
			}
			if item.Bool("archived") {
				u.Archived++
			} else {
				u.ByProject[item.String("project")]++
			}
			recount[id] = u
		}
	}
	if fmt.Sprint(stored) != fmt.Sprint(recount) {
		w.fail("the references to the segments is %v, but toggles use them %v", stored, recount)
	}
	storedByField := map[string]int64{}
	fields := contextfield.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("ContextFields") {
		if field, ok := fields.ResourceOf(item); ok {
			if used, _ := references.FromItem(item); used.Segments != 0 {
				storedByField[field] = used.Segments
			}
		}
	}
	if !maps.Equal(storedByField, byField) {
		w.fail("the references to the fields by segments is %v, but %v", storedByField, byField)
	}
}

// usedSegments returns the segments of a strategy: none, or one of the last ones.
func (a *actor) usedSegments() []int64 {
	if len(a.segments.ids) == 0 || a.IntN(2) == 0 {
		return []int64{}
	}
	return []int64{subject(a, a.segments.ids[max(0, len(a.segments.ids)-3):]...)}
}
