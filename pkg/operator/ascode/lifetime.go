package ascode

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// ToggleType is the lifetime of a type of toggles in a file. Types themselves are not created by files.
type ToggleType struct {
	document `json:"-" yaml:"-"`

	Kind         Kind   `json:"-"            yaml:"kind"`
	ID           string `json:"-"            yaml:"id"`
	LifetimeDays *int64 `json:"lifetimeDays" yaml:"lifetimeDays"` // nil and 0: toggles are never potentially stale
}

// Ref implements Resource.
func (t *ToggleType) Ref() Ref { return Ref{Kind: KindType, Name: t.ID} }

func (t *ToggleType) check() error {
	if t.ID == "" {
		return fmt.Errorf("%s: the property id is missing", t.place(""))
	}
	if t.property("lifetimeDays") == nil {
		return fmt.Errorf("%s: the property lifetimeDays is missing: use null for toggles that are never potentially stale",
			t.place(""))
	}
	_, err := checkBody(t, featuretype.LifetimeSchema())
	return err
}

// lifetime returns the lifetime in the event of a change.
func lifetime(id string, days *int64) any {
	if days != nil && *days == 0 {
		days = nil
	}
	return object{"id": id, "lifetimeDays": days}
}

func (t *ToggleType) plan(_ context.Context, p *planner) (Step, error) {
	types, err := p.lifetimes()
	if err != nil {
		return Step{}, err
	}
	id := toggle.NormalTypeID(t.ID)
	stored, exists := types[id]
	if !exists {
		return Step{}, fmt.Errorf("%s: there is no toggle type with the id %q, and files do not create one", t.place("id"), t.ID)
	}
	return p.step(t.Ref(), eventlog.Event{Type: eventlog.FeatureTypeUpdated, Subject: eventlog.Subject("type:" + id)},
		lifetime(id, stored), lifetime(id, t.LifetimeDays), &setLifetime{id, stored, t})
}

// setLifetime sets the lifetime of a type, which must be as the plan has seen it. The entity tag is that of all types, so it
// is read just before, also after other steps.
type setLifetime struct {
	id   string
	seen *int64
	next *ToggleType
}

func (a *setLifetime) apply(ctx context.Context, c *Client, s *Step) error {
	types, etag, err := c.lifetimes(ctx)
	if err != nil {
		return err
	}
	if now, exists := types[a.id]; !exists || !reflect.DeepEqual(now, a.seen) {
		return errChangedByOthers
	}
	next := send{method: http.MethodPut, path: []string{"feature-types", a.id, "lifetime"}, etag: etag, body: a.next}
	return next.apply(ctx, c, s)
}

// lifetimes returns the lifetimes of the types by their ids, with their entity tag.
func (c *Client) lifetimes(ctx context.Context) (days map[string]*int64, etag string, err error) {
	types, etag, err := c.types(ctx)
	days = map[string]*int64{}
	for _, t := range types {
		days[t.ID] = t.LifetimeDays
	}
	return days, etag, err
}

// types returns the types with their lifetimes, and the entity tag of the lifetimes.
func (c *Client) types(ctx context.Context) (all []*ToggleType, etag string, err error) {
	var list struct {
		Types []toggle.Type `json:"types"`
	}
	header, err := c.api.Call(ctx, http.MethodGet, []string{"feature-types"}, nil, nil, nil, &list)
	for _, t := range list.Types {
		all = append(all, &ToggleType{Kind: KindType, ID: t.ID, LifetimeDays: t.LifetimeDays})
	}
	return all, header.Get("ETag"), err
}
