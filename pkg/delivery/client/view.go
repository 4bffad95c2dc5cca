package client

import (
	"slices"
	"strings"
	"sync"

	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
)

// view is a snapshot with what was derived from it. A snapshot is only parsed when a request needs more than its body.
// It is safe for concurrent use.
type view struct {
	snapshot.Snapshot
	document func() (snapshot.Document, error)
	counted  func() (map[string]counting.Toggle, error) // what is counted of the toggles, by name

	mu         sync.Mutex
	bodies     map[bodyKey][]byte  // of responses to GET /api/client/features
	bodiesSize int                 // in bytes
	engines    map[string]*toggles // by projects
}

// bodyKey identifies a body: the digest of its query, and its encoding.
type bodyKey struct {
	query string
	gzip  bool
}

// toggles are the toggles that a token sees, with the engine that evaluates them.
type toggles struct {
	features []evaluation.Feature // ordered by name
	engine   *evaluation.Engine
}

// The limits of what is kept for a snapshot.
const (
	maxBodies     = 64       // their number
	maxBodiesSize = 16 << 20 // in bytes
	maxEngines    = 32
)

func newView(s snapshot.Snapshot) *view {
	document := sync.OnceValues(s.Document)
	return &view{
		Snapshot: s,
		document: document,
		counted: sync.OnceValues(func() (map[string]counting.Toggle, error) {
			d, err := document()
			return countedToggles(d), err
		}),
		bodies:  map[bodyKey][]byte{},
		engines: map[string]*toggles{},
	}
}

// countedToggles returns what is counted of toggles, by name.
func countedToggles(d snapshot.Document) map[string]counting.Toggle {
	toggles := make(map[string]counting.Toggle, len(d.Features))
	for _, f := range d.Features {
		t := counting.Toggle{Project: f.Project}
		for _, s := range f.Strategies {
			for _, v := range s.Variants {
				if !slices.Contains(t.Variants, v.Name) {
					t.Variants = append(t.Variants, v.Name)
				}
			}
		}
		toggles[f.Name] = t
	}
	return toggles
}

// features returns the body of the response to a query, compressed or not.
func (v *view) features(q snapshot.Query, gzip bool) ([]byte, error) {
	key := bodyKey{q.Digest(), gzip}
	v.mu.Lock()
	defer v.mu.Unlock()
	if b, ok := v.bodies[key]; ok {
		return b, nil
	}
	b, err := v.build(q, gzip)
	if err != nil {
		return nil, err
	}
	if len(v.bodies) >= maxBodies || v.bodiesSize+len(b) > maxBodiesSize {
		clear(v.bodies)
		v.bodiesSize = 0
	}
	if len(b) <= maxBodiesSize {
		v.bodies[key] = b
		v.bodiesSize += len(b)
	}
	return b, nil
}

func (v *view) build(q snapshot.Query, gzip bool) ([]byte, error) {
	stored := q.Digest() == v.Query().Digest()
	if stored && gzip {
		return v.Body, nil
	}
	if stored {
		return snapshot.Decompress(v.Body)
	}
	d, err := v.document()
	if err != nil {
		return nil, err
	}
	if len(q.Projects) > 0 || q.NamePrefix != "" {
		d = d.Select(selects(q))
	}
	if q.InlineSegmentConstraints {
		if err := checkInlined(d); err != nil {
			return nil, err
		}
	}
	text, err := snapshot.Encode(snapshot.NewResponse(d, q, v.Epoch, v.Versions))
	if err != nil || !gzip {
		return text, err
	}
	return snapshot.Compress(text)
}

// selects returns the condition that a query selects a toggle.
func selects(q snapshot.Query) func(evaluation.Feature) bool {
	projects := map[string]bool{}
	for _, project := range q.Projects {
		projects[project] = true
	}
	return func(f evaluation.Feature) bool {
		return (len(projects) == 0 || projects[f.Project]) && strings.HasPrefix(f.Name, q.NamePrefix)
	}
}

// toggles returns the toggles of projects. No projects stand for all.
func (v *view) toggles(projects []string) (*toggles, error) {
	key := strings.Join(projects, ",") // names of projects contain no comma
	v.mu.Lock()
	defer v.mu.Unlock()
	if t, ok := v.engines[key]; ok {
		return t, nil
	}
	d, err := v.document()
	if err != nil {
		return nil, err
	}
	if len(projects) > 0 {
		d = d.Select(selects(snapshot.Query{Projects: projects}))
	}
	if len(v.engines) >= maxEngines {
		clear(v.engines)
	}
	v.engines[key] = &toggles{d.Features, evaluation.New(evaluation.State(d))}
	return v.engines[key], nil
}
