package snapshot

import (
	"maps"
	"reflect"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Versions are the versions of a snapshot at which its projects changed last, by project. A project that no longer has
// toggles keeps its version, so that versions never fall.
type Versions map[string]Version

// Version is the version of a project, which depends on the form in which a token sees it: an SDK that does not know
// segments does not see their names.
type Version struct {
	Apart   int64 `json:"apart"`   // with the segments apart from the strategies
	Inlined int64 `json:"inlined"` // with the constraints of the segments in the strategies
	Tagged  int64 `json:"tagged"`  // of the tags of the toggles, which select toggles and are not delivered
}

// Next returns the versions after the document old was replaced by next in the snapshot with the version n. Projects
// whose toggles and segments did not change keep their versions.
func (v Versions) Next(old, next Document, n int64) Versions {
	versions := Versions{}
	maps.Copy(versions, v)
	oldParts, nextParts := old.parts(), next.parts()
	for project := range union(oldParts, nextParts) {
		before, after := oldParts[project], nextParts[project]
		version := versions[project]
		if !reflect.DeepEqual(before.apart(), after.apart()) {
			version.Apart = n
			if !reflect.DeepEqual(before.inlined(), after.inlined()) {
				version.Inlined = n
			}
		}
		if !reflect.DeepEqual(before.tagsOf(), after.tagsOf()) {
			version.Tagged = n
		}
		versions[project] = version
	}
	return versions
}

// Of returns the version of what a token of projects sees: the latest one of its projects. No projects stand for all.
func (v Versions) Of(projects []string) Version {
	var latest Version
	add := func(version Version) {
		latest.Apart = max(latest.Apart, version.Apart)
		latest.Inlined = max(latest.Inlined, version.Inlined)
		latest.Tagged = max(latest.Tagged, version.Tagged)
	}
	if len(projects) == 0 {
		for _, version := range v {
			add(version)
		}
	}
	for _, project := range projects {
		add(v[project])
	}
	return latest
}

// part is what a document contains of one project.
type part struct {
	features []evaluation.Feature     // without their tags
	segments map[int64]toggle.Segment // that the toggles use
	tags     map[string][]toggle.Tag  // by the names of the toggles that have any
}

// parts divides a document by project.
func (d Document) parts() map[string]*part {
	segments := d.SegmentsByID()
	parts := map[string]*part{}
	for _, f := range d.Features {
		p := parts[f.Project]
		if p == nil {
			p = &part{segments: map[int64]toggle.Segment{}, tags: map[string][]toggle.Tag{}}
			parts[f.Project] = p
		}
		if len(f.Tags) > 0 {
			p.tags[f.Name] = f.Tags
			f.Tags = nil
		}
		p.features = append(p.features, f)
		for _, id := range SegmentsOf(f) {
			if s, ok := segments[id]; ok {
				p.segments[id] = s
			}
		}
	}
	return parts
}

// apart returns the part without tags.
func (p *part) apart() *part {
	if p == nil {
		return nil
	}
	return &part{features: p.features, segments: p.segments}
}

// tagsOf returns the tags of the toggles.
func (p *part) tagsOf() map[string][]toggle.Tag {
	if p == nil || len(p.tags) == 0 {
		return nil
	}
	return p.tags
}

// inlined returns the toggles in the form with the constraints of segments in the strategies.
func (p *part) inlined() []evaluation.Feature {
	if p == nil {
		return nil
	}
	d := Document{Features: p.features}
	for _, s := range p.segments {
		d.Segments = append(d.Segments, s)
	}
	return d.Inline().Features
}

func union(a, b map[string]*part) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}
