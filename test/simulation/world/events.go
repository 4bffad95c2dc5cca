package world

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// eventState is what the world knows about the event log.
type eventState struct {
	log map[string][]dynamo.Item // the events, by subject, in their order
}

// eventFilter selects the events whose attribute has a value. Without an attribute, it selects all.
type eventFilter struct{ attribute, value string }

func (f eventFilter) selects(e dynamo.Item) bool {
	return f.attribute == "" || cmp.Or(e.String(f.attribute), fmt.Sprint(e.Int(f.attribute))) == f.value
}

// shows reports whether a search with the filter must find an event at a time. A search by subject or toggle reads an
// index, which can lack the newest events; the clock that dated the event can have been behind.
func (f eventFilter) shows(e dynamo.Item, now time.Time) bool {
	if f.attribute != eventlog.AttributeSubject && f.attribute != eventlog.AttributeFeatureName {
		return true
	}
	return now.Sub(eventlog.TimeOf(e.Int("id"))) > maxLag+operatorSkews*maxSkew
}

// query returns the parameter of a search.
func (f eventFilter) query() string {
	name := map[string]string{
		eventlog.AttributeType: "type", eventlog.AttributeFeatureName: "feature", eventlog.AttributeSubject: "subject",
		eventlog.AttributeProject: "project", eventlog.AttributeCreatedByUserID: "createdBy",
	}[f.attribute]
	if name == "" {
		return ""
	}
	return "&" + name + "=IS:" + f.value
}

func (a *actor) eventFilter() eventFilter {
	name := subject(a, a.toggles.names...)
	return choose(a, eventFilter{}, eventFilter{},
		eventFilter{eventlog.AttributeFeatureName, name},
		eventFilter{eventlog.AttributeSubject, "toggle:" + name},
		eventFilter{eventlog.AttributeProject, choose(a, "default", "shop")},
		eventFilter{eventlog.AttributeCreatedByUserID, fmt.Sprint(choose(a, a.admin, a.editor).account)},
		eventFilter{eventlog.AttributeType, string(choose(a, eventlog.FeatureUpdated, eventlog.FeaturePotentiallyStaleOn))},
	)
}

// readLog reads the event log page by page, while others write to it. It must find each selected event that was
// recorded before it began, and that the index has if it reads one, once. How many events it finds is known only if it
// has read all of them.
func (a *actor) readLog() {
	limit, filter := choose(a, 3, 20, 1000), a.eventFilter()
	before := map[int64]bool{}
	for _, all := range a.events.log {
		for _, e := range all {
			if filter.selects(e) && filter.shows(e, time.Now()) {
				before[e.Int("id")] = true
			}
		}
	}
	last, cursor := int64(0), ""
	for range 1000 {
		var page struct {
			Events []struct {
				ID      int64
				Subject string
			}
			Next string
		}
		request := fmt.Sprintf("search/events?limit=%d%s", limit, filter.query())
		if cursor != "" {
			request += "&cursor=" + cursor
		}
		if !a.get(a.admin, request, &page).ok() {
			if a.over || a.IntN(4) == 0 {
				return
			}
			continue
		}
		for _, e := range page.Events {
			if last != 0 && e.ID >= last {
				a.fail("the event %d is not older than the one before it in the pages of the log, %d", e.ID, last)
			}
			if i := slices.IndexFunc(a.events.log[e.Subject], func(item dynamo.Item) bool {
				return item.Int("id") == e.ID
			}); i < 0 || !filter.selects(a.events.log[e.Subject][i]) {
				a.fail("a search with %q returns the event %d of %s", filter.query(), e.ID, e.Subject)
			}
			last = e.ID
			delete(before, e.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for id := range before {
		if cursor == "" {
			a.fail("the pages of a search with %q do not contain the event %d", filter.query(), id)
		}
	}
}

// subject returns the subject of the item of a change, and the item without what is not recorded. Both are empty if
// nothing about the item is recorded.
func (c change) subject(item dynamo.Item) (subject string, recorded dynamo.Item) {
	recorded = maps.Clone(item)
	for _, name := range []string{"event", "references", "pats", "seenAt", "evaluationRequests", "assignments", "uses"} {
		delete(recorded, name)
	}
	id := fmt.Sprint(item.Int("id"))
	switch {
	case item == nil:
	case c.table == accesstable.Table:
		switch kind := accesstable.Kind(item.String(accesstable.Hash)); kind {
		case accesstable.KindRole, accesstable.KindGroup, accesstable.KindProject, accesstable.KindTagType:
			return string(kind) + ":" + item.String(accesstable.Range), recorded
		case accesstable.KindTrust:
			if isTrust(item) {
				return fmt.Sprint("trust:", item.Int("trust")), recorded
			}
		default: // names, counters and the directory
		}
	case c.table == "Features":
		return "toggle:" + item.String("name"), recorded
	case c.table == "FeatureTypes":
		return "type:" + item.String("id"), recorded
	case c.table == "ContextFields" && contextfield.IsField(item): // otherwise references, or the version of all fields
		return "field:" + item.String("name"), recorded
	case c.table == "Environments" && isEnvironment(item): // otherwise usage, or one whose deletion is recorded
		return "environment:" + item.String("name"), recorded
	case c.table == "Segments" && segmenttable.IsSegment(item): // otherwise usage, or the counter
		return "segment:" + item.String("id"), recorded
	case c.table == "Users" && item["kind"] != nil: // otherwise a counter, or an account whose deletion is recorded
		delete(recorded, "groups") // which the events of groups record
		delete(recorded, "claim")  // which the issuer says
		return map[string]string{"user": "user:", "service-account": "account:"}[item.String("kind")] + id, recorded
	case c.table == "PersonalAccessTokens" && item.Int("userId") > 0: // otherwise a counter
		return "pat:" + id, recorded
	case c.table == "ClientTokens" && clienttokentable.IsToken(item): // otherwise the version of the table
		return "client-token:" + item.String(clienttokentable.Hash), recorded
	case c.table == changerequest.Table && isRequest(item): // otherwise numbers of a project, or the counter
		if schedule := maps.Clone(item.Map("schedule")); schedule != nil {
			delete(schedule, "failingSince")
			recorded["schedule"] = &types.AttributeValueMemberM{Value: schedule}
		}
		return requestSubject(item.Int("id")), recorded
	case c.table == "ApiTokens":
		return "api-token:" + item.String("id"), recorded
	}
	return "", nil
}

// checkRecorded checks that a call has recorded each change that it has made, and nothing else. The ids of a subject's
// events rise in the order of the calls.
func (w *World) checkRecorded() {
	recorded, stored := map[string][]string{}, map[string][]dynamo.Item{} // types of events, and events, by subject
	for _, c := range w.engine.changes {
		if c.table != "Events" || c.item["type"] == nil {
			continue
		}
		id, subject := c.item.Int("id"), c.item.String("subject")
		if c.old["type"] != nil {
			w.fail("the event %d is changed", id)
		}
		if last := w.lastEvent(subject); last >= id {
			w.fail("the event %d of %s is not later than the one before, %d", id, subject, last)
		}
		w.events.log[subject] = append(w.events.log[subject], c.next)
		recorded[subject] = append(recorded[subject], c.next.String("type"))
		stored[subject] = append(stored[subject], c.next)
	}
	for _, c := range w.engine.changes {
		subject, before := c.subject(c.old)
		next, after := c.subject(c.next)
		if subject = cmp.Or(subject, next); subject == "" || reflect.DeepEqual(before, after) {
			continue
		}
		if c.table == "Features" && stored[subject] == nil && w.losesOnlyDeletedEnvironments(c) {
			continue
		}
		if c.table == accesstable.Table && !isTrust(c.item) && stored[subject] == nil && w.losesOnlyOldGrants(c) {
			continue
		}
		if c.table == "Features" && stored[subject] == nil && w.changesOnlyChildren(c) {
			continue
		}
		if c.table == "Features" {
			w.checkActivationRecorded(c, stored[subject])
			w.checkDependencyRecorded(c, stored[subject])
			w.checkProtected(c, stored[subject])
		}
		if c.table == "Segments" {
			w.checkSegmentProtected(c, stored[subject])
		}
		events := recorded[subject]
		if delete(recorded, subject); events == nil {
			w.fail("%s changes %s without an event", w.engine.caller.process.name, subject)
		}
		if last := w.lastEvent(subject); c.next != nil && c.next.Int("event") != last {
			w.fail("the last event of %s is %d, but its item has %d", subject, last, c.next.Int("event"))
		}
		was, is := c.old.Bool("potentiallyStale"), c.next.Bool("potentiallyStale")
		for flag, state := range map[bool]string{true: "on", false: "off"} {
			flips := was != is && is == flag
			if flips != slices.Contains(events, "feature-potentially-stale-"+state) {
				w.fail("the flag of %s is recorded wrongly: %s: %t", subject, state, !flips)
			}
		}
	}
	for subject := range recorded {
		w.fail("%s records an event of %s without a change", w.engine.caller.process.name, subject)
	}
}

// lastEvent returns the id of the last event of a subject, or 0.
func (w *World) lastEvent(subject string) (id int64) {
	if log := w.events.log[subject]; len(log) > 0 {
		id = log[len(log)-1].Int("id")
	}
	return id
}

// checkEvents checks, in the quiet world, that each event has arrived.
func (w *World) checkEvents() {
	for _, subject := range slices.Sorted(maps.Keys(w.events.log)) {
		expires := map[string]bool{}
		for _, e := range w.events.log[subject] {
			kind, sequence := e.String("type"), fmt.Sprint(e.Int("id"))
			if data := e.String("data"); kind == "token-expiring" {
				if expires[data] {
					w.fail("the expiry of %s is recorded twice: %s", subject, data)
				}
				expires[data] = true
			}
			switch {
			case w.bus.discarded[sequence]: // an operator sends them again
			case w.bus.contents[sequence] == "":
				w.fail("the bus has not stored the event %s %s of %s", sequence, kind, subject)
			case w.toWebhook("toggleadmin."+kind) && !w.webhook.received[sequence]:
				w.fail("the webhook has not received the event %s %s of %s", sequence, kind, subject)
			}
		}
	}
}
