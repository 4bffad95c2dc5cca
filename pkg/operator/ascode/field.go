package ascode

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/eventlog"
)

// ContextField is a context field in a file. Its JSON form is the body of create-context-field.
type ContextField struct {
	document `json:"-" yaml:"-"`

	Kind        Kind         `json:"-"                     yaml:"kind"`
	Name        string       `json:"name"                  yaml:"name"`
	Description *string      `json:"description,omitempty" yaml:"description,omitempty"`
	Stickiness  bool         `json:"stickiness"            yaml:"stickiness,omitempty"`
	SortOrder   *int64       `json:"sortOrder,omitempty"   yaml:"sortOrder,omitempty"` // nil: it does not change; a new one is the last
	LegalValues []LegalValue `json:"legalValues,omitempty" yaml:"legalValues,omitempty"`
}

// LegalValue is a value that a context field permits.
type LegalValue struct {
	Value       string  `json:"value"                 yaml:"value"`
	Description *string `json:"description,omitempty" yaml:"description,omitempty"`
}

// Ref implements Resource.
func (f *ContextField) Ref() Ref { return Ref{Kind: KindField, Name: f.Name} }

func (f *ContextField) check() error {
	_, err := checkBody(f, contextfield.CreateSchema(), contextfield.Rules()...)
	return err
}

func (f *ContextField) plan(ctx context.Context, p *planner) (Step, error) {
	var stored ContextField
	path := []string{"context", f.Name}
	etag, err := p.client.find(ctx, &stored, path...)
	if err != nil {
		return Step{}, explain(f, err)
	}
	e := eventlog.Event{Type: eventlog.ContextFieldUpdated, Subject: eventlog.Subject("field:" + f.Name)}
	if etag == "" {
		e.Type = eventlog.ContextFieldCreated
		return p.step(f.Ref(), e, nil, f, &send{method: http.MethodPost, path: path[:1], body: f})
	}
	next := *f
	if next.SortOrder == nil {
		next.SortOrder = stored.SortOrder
	}
	return p.step(f.Ref(), e, stored, next, &send{http.MethodPut, path, etag, next})
}

// fields returns all context fields.
func (c *Client) fields(ctx context.Context) (all []Resource, err error) {
	var list []*ContextField
	err = c.api.Get(ctx, &list, "context")
	for _, f := range list {
		f.Kind = KindField
		all = append(all, f)
	}
	return all, err
}
