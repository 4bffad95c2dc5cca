package operator

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// RemoteEvent is an event in the API.
type RemoteEvent struct {
	ID      int64         `json:"id"`
	Type    eventlog.Type `json:"type"`
	Summary string        `json:"summary"`
	TokenID *string       `json:"createdByTokenId"`

	CreatedAt string          `json:"createdAt"`
	JSON      json.RawMessage `json:"-"` // the whole event
}

// maxEvents is the size of the pages of events.
const maxEvents = 1000

// Events returns the newest events that a filter selects, at most limit. by is the id of an account; empty: anybody.
func (r *Remote) Events(ctx context.Context, f eventlog.Filter, by string, limit int) ([]RemoteEvent, error) {
	return r.events(ctx, f, by, limit, min(maxEvents, limit))
}

// events is Events with pages of a size.
func (r *Remote) events(ctx context.Context, f eventlog.Filter, by string, limit, size int) (
	all []RemoteEvent, err error,
) {
	query := url.Values{}
	for name, values := range map[string][]string{
		"type": f.Types, "project": f.Projects, "feature": f.Features, "subject": f.Subjects, "environment": f.Environments,
		"token": f.Tokens,
	} {
		switch {
		case len(values) == 1:
			query.Set(name, "IS:"+values[0])
		case len(values) > 1:
			query.Set(name, apiclient.AnyOf(values...))
		}
	}
	if f.Text != "" {
		query.Set("query", f.Text)
	}
	if by != "" {
		if _, ok := access.ParseID(by); !ok {
			return nil, exitstatus.Errorf(exitstatus.Usage, "--by is %q: with --url, it must be the id of an account", by)
		}
		query.Set("createdBy", "IS:"+by)
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.Until} { // days
		if !at.IsZero() {
			query.Set(name, "IS:"+at.UTC().Format(time.DateOnly))
		}
	}
	for len(all) < limit {
		query.Set("limit", strconv.Itoa(size))
		var page struct {
			Events []json.RawMessage `json:"events"`
			Next   string            `json:"next"`
		}
		if err := r.get(ctx, query, &page, "search", "events"); err != nil {
			return nil, err
		}
		for _, text := range page.Events {
			e := RemoteEvent{JSON: text}
			if err := json.Unmarshal(text, &e); err != nil {
				return nil, exitstatus.Errorf(exitstatus.Failure, "an event cannot be read: %v", err)
			}
			at, err := datetime.Parse(e.CreatedAt)
			if err == nil && at.Before(f.From) { // so are those that follow
				return all, nil
			}
			if err == nil && (f.Until.IsZero() || at.Before(f.Until)) && len(all) < limit {
				all = append(all, e)
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	return all, nil
}

// maxFollowed is the number of events that AllEvents reads with one request.
const maxFollowed = 100

// AllEvents calls visit with each event that a filter selects, oldest first, until it returns an error.
func (r *Remote) AllEvents(ctx context.Context, f eventlog.Filter, visit func(RemoteEvent) error) error {
	all, err := r.events(ctx, f, "", math.MaxInt, maxFollowed)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(all) {
		if e.ID < f.First {
			continue
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}
