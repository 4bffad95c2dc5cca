package compiler

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// compilation is the next document of an environment, in progress.
type compilation struct {
	environment string
	previous    snapshot.Document
	features    map[string]evaluation.Feature // by name
	segments    map[int64]toggle.Segment      // by id
	kept        []error                       // why toggles keep their part of the previous document
}

func newCompilation(environment string, previous snapshot.Document) *compilation {
	return &compilation{
		environment: environment,
		previous:    previous,
		features:    map[string]evaluation.Feature{},
		segments:    map[int64]toggle.Segment{},
	}
}

// contents is what the tables have of all toggles and segments.
type contents struct {
	features   map[string]toggle.Feature // that are not archived, by name
	unreadable map[string]error          // toggles whose items cannot be read, by name
	segments   []dynamo.Item
}

func newContents(rows []featuretable.Row, segments []dynamo.Item) contents {
	s := contents{features: map[string]toggle.Feature{}, unreadable: map[string]error{}, segments: segments}
	for _, row := range rows {
		f, err := row.Feature()
		if err != nil {
			s.unreadable[row.Toggle.Name] = err
			continue
		}
		s.features[f.Name] = f
	}
	return s
}

// putAll sets the parts of all toggles and segments.
func (c *compilation) putAll(s contents) {
	c.putSegments(s.segments)
	for _, name := range slices.Sorted(maps.Keys(s.unreadable)) {
		c.keep(name, s.unreadable[name])
	}
	for _, f := range s.features {
		c.put(f)
	}
}

// document returns the next document.
func (c *compilation) document() snapshot.Document {
	c.keepUnusable()
	snapshot.Resolve(c.features)
	return snapshot.NewDocument(slices.Collect(maps.Values(c.features)), c.segments)
}

// keepUnusable replaces toggles that engines cannot evaluate by their part of the previous document, so that one toggle
// does not hold up the others. A toggle without such a part is left out.
func (c *compilation) keepUnusable() {
	for _, name := range slices.Sorted(maps.Keys(c.features)) {
		if err := snapshot.Check(c.features[name], c.segments); err != nil {
			c.keep(name, err)
		}
	}
}

// keep keeps the part of a toggle in the previous document, with its segments.
func (c *compilation) keep(name string, reason error) {
	c.kept = append(c.kept, fmt.Errorf("the toggle %q: %w", name, reason))
	delete(c.features, name)
	i := slices.IndexFunc(c.previous.Features, func(f evaluation.Feature) bool { return f.Name == name })
	if i < 0 {
		return
	}
	f := c.previous.Features[i]
	c.features[name] = f
	segments := c.previous.SegmentsByID()
	for _, id := range snapshot.SegmentsOf(f) {
		if _, ok := c.segments[id]; !ok {
			c.segments[id] = segments[id]
		}
	}
}

// putSegments sets segments from their items. One that cannot be read keeps its state in the previous document.
func (c *compilation) putSegments(items []dynamo.Item) {
	earlier := c.previous.SegmentsByID()
	for _, item := range items {
		s, err := segmenttable.Unmarshal(item)
		if err == nil {
			c.segments[s.ID] = snapshot.NewSegment(s.Segment)
			continue
		}
		c.kept = append(c.kept, fmt.Errorf("the segment %s: %w", item.String(segmenttable.Hash), err))
		if id, err := segmenttable.ID(item); err == nil {
			if segment, exists := earlier[id]; exists {
				c.segments[id] = segment
			}
		}
	}
}

// put sets the part of a toggle.
func (c *compilation) put(f toggle.Feature) {
	if f.Archived {
		delete(c.features, f.Name)
		return
	}
	c.features[f.Name] = snapshot.NewFeature(f, c.environment)
}
