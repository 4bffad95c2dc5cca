package client

import (
	"errors"
	"slices"
	"sync"

	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/jsonbody"
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
	engines    map[string]*toggles // by the key of the selection
}

// bodyKey identifies a body: the key of its selection, and its encoding.
type bodyKey struct {
	selection string
	gzip      bool
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

// response returns the body of the response to GET /api/client/features for a selection, compressed or not.
func (v *view) response(s snapshot.Selection, gzip bool) ([]byte, error) {
	key := bodyKey{s.Key(), gzip}
	v.mu.Lock()
	defer v.mu.Unlock()
	if b, ok := v.bodies[key]; ok {
		return b, nil
	}
	b, err := v.build(s, gzip)
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

func (v *view) build(s snapshot.Selection, gzip bool) ([]byte, error) {
	switch {
	case s.IsStored() && gzip:
		return v.Body, nil
	case s.IsStored():
		return snapshot.Decompress(v.Body)
	}
	selected, err := v.selected(s)
	if err != nil {
		return nil, err
	}
	text, err := jsonbody.Encode(s.Response(selected, v.Epoch, v.Versions))
	if err != nil || !gzip {
		return text, err
	}
	return snapshot.Compress(text)
}

// errNoTags is the cause of a 503 if an earlier version of the service has published the snapshot. The next sweep replaces
// it.
var errNoTags = errors.New("the snapshot has no tags of toggles")

// selected returns the document with what a selection selects. It is an error if its segments are too large to be
// inlined, or if it has tags and the snapshot has none.
func (v *view) selected(s snapshot.Selection) (snapshot.Document, error) {
	if len(s.Query().Tags) > 0 && v.Tags == nil {
		return snapshot.Document{}, unavailable(errNoTags)
	}
	d, err := v.document()
	if err != nil {
		return snapshot.Document{}, err
	}
	d = s.From(d)
	if s.Query().InlineSegmentConstraints {
		err = checkInlined(d)
	}
	return d, err
}

// toggles returns the toggles of a selection, with the engine that evaluates them.
func (v *view) toggles(s snapshot.Selection) (*toggles, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t, ok := v.engines[s.Key()]; ok {
		return t, nil
	}
	d, err := v.document()
	if err != nil {
		return nil, err
	}
	d = s.From(d)
	if len(v.engines) >= maxEngines {
		clear(v.engines)
	}
	v.engines[s.Key()] = &toggles{d.Features, evaluation.New(evaluation.Document(d))}
	return v.engines[s.Key()], nil
}
