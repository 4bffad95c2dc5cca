package unleash

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"toggleadmin/pkg/operator/transfer"
)

// other is a kind of what an import does not take over, and the operation of Unleash that lists it.
type other struct {
	kind  string
	path  string
	query url.Values
	list  string // the member of the response that is the list; empty: the response is
	total string // the member that is the number; empty: that of the elements
	// counts reports whether an element counts; nil: all do.
	counts func(entry) bool
}

// entry is the part of an element of a list that decides whether it counts.
type entry struct {
	Name     string
	Editable bool
}

// others are the kinds of all versions. A version that does not have one responds with 404, or with 200 and a page.
func others() []other {
	return []other{
		{kind: "custom strategy types", path: "strategies", list: "strategies", counts: func(e entry) bool { return e.Editable }},
		{kind: "API tokens", path: "api-tokens", list: "tokens"},
		{kind: "service accounts", path: "service-account", list: "serviceAccounts"},
		{kind: "integrations", path: "addons", list: "addons"},
		{kind: "signal endpoints", path: "signal-endpoints", list: "signalEndpoints"},
		{kind: "release templates", path: "release-plan-templates"},
		{kind: "events", path: searchEvents, query: url.Values{"limit": {"1"}}, total: "total"},
	}
}

const searchEvents = "search/events"

// hasLinks reports whether toggles can have links: unless the event log says that none was added. Only the response with
// one toggle has its links.
func (r *client) hasLinks(ctx context.Context) (bool, error) {
	query := url.Values{"limit": {"1"}, "type": {"IS:feature-link-added"}}
	added, err := r.count(ctx, other{path: searchEvents, query: query, total: "total"})
	return added == nil || *added > 0, err
}

// others returns the kinds that Unleash has and an import does not take over.
func (r *client) others(ctx context.Context) ([]transfer.Other, error) {
	var all []transfer.Other
	add := func(kind string, number *int64) {
		if number == nil || *number > 0 {
			all = append(all, transfer.Other{Kind: kind, Number: number})
		}
	}
	for _, o := range others() {
		r.Progress("counting "+o.kind, 0, 0)
		number, err := r.count(ctx, o)
		if err != nil {
			return nil, err
		}
		add(o.kind, number)
	}
	return all, nil
}

// count returns the number of elements of a kind, or nil if it cannot be read.
func (r *client) count(ctx context.Context, o other) (*int64, error) {
	none := int64(0)
	var response json.RawMessage
	err := r.get(ctx, "api/admin/"+o.path, o.query, &response)
	switch {
	case hasStatus(err, http.StatusNotFound, http.StatusOK):
		return &none, nil
	case hasStatus(err, http.StatusForbidden):
		return nil, nil //nolint:nilnil // unknown: the token may not read it
	case err != nil:
		return nil, err
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(response, &members) // otherwise it is a list
	if o.total != "" {
		var total *int64
		_ = json.Unmarshal(members[o.total], &total) // otherwise it is unknown
		return total, nil
	}
	list := response
	if o.list != "" {
		list = members[o.list]
	}
	var entries []json.RawMessage
	_ = json.Unmarshal(list, &entries) // otherwise their number is unknown
	if entries == nil {
		return nil, nil //nolint:nilnil // unknown
	}
	number := int64(0)
	for _, text := range entries {
		var e entry
		_ = json.Unmarshal(text, &e) // ids can be numbers
		if o.counts == nil || o.counts(e) {
			number++
		}
	}
	return &number, nil
}
