package changerequest

import (
	"encoding/json"
	"strconv"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// enabledSchema is the schema of the payload of updateEnabled, which no operation has as its body.
const enabledSchema = `{
	"type": "object",
	"additionalProperties": false,
	"required": ["enabled"],
	"properties": {
		"enabled": {"type": "boolean"},
		"shouldActivateDisabledStrategies": {"type": "boolean"}
	}
}`

// actions reads the payloads of changes, which are the bodies of the direct operations, and makes the edits of these
// operations. It is safe for concurrent use.
type actions struct {
	enabled, create, update, order, dependency, segment *jsonbody.Schema
}

func newActions() actions {
	return actions{
		enabled:    jsonbody.MustCompile([]byte(enabledSchema)),
		create:     featurestrategy.CreateSchema(),
		update:     featurestrategy.UpdateSchema(),
		order:      featurestrategy.OrderSchema(),
		dependency: featuredependency.AddSchema(),
		segment:    segment.UpdateSchema(),
	}
}

// payload is the payload of a change. Which members it has depends on the action.
type payload struct {
	body    jsonbody.Object
	orders  []jsonbody.Object
	id      string // of a strategy
	segment int64  // its id
}

// read returns the payload of a change. The kind of its error is Validation; its places are below /body.
func (a actions) read(c Change) (p payload, err error) {
	switch c.Action {
	case UpdateEnabled:
		p.body, err = a.enabled.Decode(c.Payload)
	case AddStrategy:
		p.body, err = a.create.Decode(c.Payload)
	case UpdateStrategy:
		var rest []byte
		if p.id, rest, err = strategyID(c.Payload); err == nil {
			p.body, err = a.update.Decode(rest)
		}
	case DeleteStrategy:
		var rest []byte
		if p.id, rest, err = strategyID(c.Payload); err == nil {
			err = onlyID(rest)
		}
	case ReorderStrategy:
		p.orders, err = a.order.DecodeArray(c.Payload, featurestrategy.DifferentStrategies)
	case AddDependency:
		p.body, err = a.dependency.Decode(c.Payload, featuredependency.NoIgnoredVariants)
	case UpdateSegment:
		var rest []byte
		if p.segment, rest, err = segmentID(c.Payload); err == nil {
			p.body, err = a.segment.Decode(rest, segment.Rules()...)
		}
	case DeleteSegment:
		var rest []byte
		if p.segment, rest, err = segmentID(c.Payload); err == nil {
			err = onlyID(rest)
		}
	case ArchiveFeature, DeleteDependency:
		if len(c.Payload) > 0 && string(c.Payload) != "{}" && string(c.Payload) != "null" {
			err = apierror.Invalid(apierror.At("/body", "must not be sent with the action %s", c.Action))
		}
	}
	return p, err
}

// withoutID returns the member id of a payload, and the rest of the payload.
func withoutID(payload json.RawMessage) (id json.RawMessage, rest []byte, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(payload, &members); err != nil || members == nil {
		return nil, nil, apierror.Invalid(apierror.At("/body", "must be an object with the property `id`"))
	}
	id, ok := members["id"]
	if !ok {
		return nil, nil, apierror.Invalid(apierror.Missing("/body/id"))
	}
	delete(members, "id")
	rest, err = json.Marshal(members)
	return id, rest, err
}

func strategyID(payload json.RawMessage) (id string, rest []byte, err error) {
	member, rest, err := withoutID(payload)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(member, &id); err != nil || id == "" {
		return "", nil, apierror.Invalid(apierror.At("/body/id", "must be the id of a strategy").SentJSON(string(member)))
	}
	return id, rest, nil
}

func segmentID(payload json.RawMessage) (id int64, rest []byte, err error) {
	member, rest, err := withoutID(payload)
	if err != nil {
		return 0, nil, err
	}
	if id, err = strconv.ParseInt(string(member), 10, 64); err != nil {
		return 0, nil, apierror.Invalid(apierror.At("/body/id", "must be the id of a segment").SentJSON(string(member)))
	}
	return id, rest, nil
}

// onlyID returns an error if the rest of a payload has properties.
func onlyID(rest []byte) error {
	if string(rest) == "{}" {
		return nil
	}
	return apierror.Invalid(apierror.At("/body", "must have no other property than `id`"))
}

// edit returns the edit of a change of a toggle, in an environment. The toggle must be one of the project.
func (a actions) edit(c Change, environment string) (feature.Change, error) {
	p, err := a.read(c)
	if err != nil {
		return nil, err
	}
	newID := func() string { return c.StrategyID }
	return func(f toggle.Feature) (toggle.Feature, error) {
		switch c.Action {
		case UpdateEnabled:
			if !p.body.Bool("enabled") {
				return featureswitch.Off(f, environment), nil
			}
			return featureswitch.On(f, environment, p.body.Bool("shouldActivateDisabledStrategies"), newID)
		case AddStrategy:
			return featurestrategy.Added(f, environment, newID(), p.body)
		case UpdateStrategy:
			return featurestrategy.Updated(f, environment, p.id, p.body)
		case DeleteStrategy:
			return featurestrategy.Deleted(f, environment, p.id)
		case ReorderStrategy:
			return featurestrategy.Reordered(f, environment, p.orders)
		case ArchiveFeature:
			return feature.Archived(f), nil
		case AddDependency:
			return featuredependency.Added(f, p.body), nil
		case DeleteDependency:
			if f.Dependency == nil {
				return f, apierror.Errorf(apierror.Conflict, "The toggle %q depends on no other toggle.", apierror.Echo(f.Name))
			}
			return featuredependency.Removed(f, f.Dependency.Feature)
		case UpdateSegment, DeleteSegment:
		}
		return f, nil
	}, nil
}

// segmentEdit returns the edit of a change of a segment.
func (a actions) segmentEdit(c Change) (segment.Edit, error) {
	p, err := a.read(c)
	if err != nil || c.Action == DeleteSegment {
		return segment.Edit{ID: p.segment}, err
	}
	return segment.Edit{ID: p.segment, Change: func(s *segment.Segment) error {
		segment.Change(s, p.body)
		return nil
	}}, nil
}

// edits returns the edits of all changes of a request.
func (a actions) edits(r Request) (toggles []feature.Edit, segments []segment.Edit, err error) {
	for _, c := range r.Changes {
		if c.IsOfSegment() {
			edit, err := a.segmentEdit(c)
			if err != nil {
				return nil, nil, err
			}
			segments = append(segments, edit)
			continue
		}
		change, err := a.edit(c, r.Environment)
		if err != nil {
			return nil, nil, err
		}
		toggles = append(toggles, feature.Edit{Name: c.Feature, Change: change})
	}
	return toggles, segments, nil
}
