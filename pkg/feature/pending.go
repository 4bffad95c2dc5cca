package feature

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
)

// Attributes of announcements. A write that changes a flag appends an entry to pending and increments sequence, so the last entry has the
// item's sequence. Once the announcements are sent, pending is empty and the item has no pendingSince.
const (
	attributeSequence = "sequence"
	attributePending  = "pending"
	// The keys of the index announcements: the shard of the toggle, and the time of its oldest pending announcement.
	attributePendingShard = "pendingShard"
	attributePendingSince = "pendingSince"
	// attributeToggle is the name of the toggle, in an item that contains only announcements and is not a toggle.
	attributeToggle = "toggle"
)

// maxPending is the number of announcements from which a flip first moves them to an item of their own. So the item of a toggle has a
// limited size, however long the bus is unavailable.
const maxPending = 20

// Pending is the announcements in an item that are not sent yet.
type Pending struct {
	Events   []event.Event // oldest first; empty: none
	key      string        // of the item
	sequence int64         // of the last event
	detached bool          // the item contains only announcements
}

// PendingKey is an item in the index announcements.
type PendingKey struct {
	Name  string // of the item
	Since string // as stored
}

// PendingPage is a part of the pending announcements of a shard.
type PendingPage struct {
	Keys []PendingKey
	Next *PendingKey // the start of the next page; nil: this is the last page
}

// announcement is a change of a flag that is to be announced, an entry of the attribute pending.
type announcement struct {
	reason       event.Reason // empty: the flag was set
	featureType  string
	lifetimeDays *int64 // of the type
	at           time.Time
}

// entry returns the announcement as it is stored. The toggle's name, project and time of creation are in its item.
func (a announcement) entry() dynamo.Item {
	entry := dynamo.Item{"type": dynamo.S(a.featureType), "time": dynamo.Time(a.at)}
	if a.reason != "" {
		entry["reason"] = dynamo.S(string(a.reason))
	}
	if a.lifetimeDays != nil {
		entry["lifetimeDays"] = dynamo.N(*a.lifetimeDays)
	}
	return entry
}

// update returns the assignments that add the announcement to an item, and adds their names and values. The sequence of a toggle starts at
// the time of its first announcement, so that it also rises if the toggle is deleted and created again.
func (a announcement) update(toggle string, names map[string]string, values dynamo.Item) []string {
	for _, attribute := range []string{attributeSequence, attributePending, attributePendingShard, attributePendingSince} {
		names["#"+attribute] = attribute
	}
	values[":start"], values[":one"], values[":at"] = dynamo.N(a.at.UnixMilli()), dynamo.N(1), dynamo.Time(a.at)
	values[":none"], values[":entry"], values[":shard"] = dynamo.L(), dynamo.L(a.entry()), dynamo.S(pendingShard(toggle))
	return []string{
		"#sequence = if_not_exists(#sequence, :start) + :one", "#pending = list_append(if_not_exists(#pending, :none), :entry)",
		"#pendingShard = :shard", "#pendingSince = if_not_exists(#pendingSince, :at)",
	}
}

// appended returns a copy of an item with one more announcement.
func (a announcement) appended(item dynamo.Item) dynamo.Item {
	sequence, announced := item.IntOK(attributeSequence)
	if !announced {
		sequence = a.at.UnixMilli()
	}
	entries := append(item.Maps(attributePending), a.entry())
	since := item[attributePendingSince]
	if since == nil {
		since = dynamo.Time(a.at)
	}
	return dynamo.Item{
		"name": item["name"], "project": item["project"], "createdAt": item["createdAt"],
		attributeSequence: dynamo.N(sequence + 1), attributePending: dynamo.L(entries...), attributePendingSince: since,
	}
}

// detached returns an item that contains only the pending announcements of a toggle. No toggle has its name, and no other item has the same
// sequence of the toggle.
func detached(item dynamo.Item) dynamo.Item {
	name := item.String("name")
	return dynamo.Item{
		"name": dynamo.S(fmt.Sprintf("#%d#%s", item.Int(attributeSequence), name)), attributeToggle: item["name"],
		"project": item["project"], "createdAt": item["createdAt"],
		attributeSequence: item[attributeSequence], attributePending: item[attributePending],
		attributePendingShard: dynamo.S(pendingShard(name)), attributePendingSince: item[attributePendingSince],
	}
}

func isDetached(item dynamo.Item) bool { return item[attributeToggle] != nil }

func pendingShard(toggle string) string { return strconv.Itoa(Shard(toggle)) }

// pendingFromItem reads the announcements of an item.
func pendingFromItem(source string, item dynamo.Item) Pending {
	p := Pending{key: item.String("name"), sequence: item.Int(attributeSequence), detached: isDetached(item)}
	toggle := p.key
	if p.detached {
		toggle = item.String(attributeToggle)
	}
	entries := item.Maps(attributePending)
	for i, entry := range entries {
		data := event.Feature{
			FeatureName: toggle, Project: item.String("project"), FeatureType: entry.String("type"), CreatedAt: item.String("createdAt"),
			Reason: event.Reason(entry.String("reason")),
		}
		if days, ok := entry.IntOK("lifetimeDays"); ok {
			data.LifetimeDays = &days
		}
		kind := event.FeaturePotentiallyStaleOn
		if data.Reason != "" {
			kind = event.FeaturePotentiallyStaleOff
		}
		sequence := p.sequence - int64(len(entries)-1-i)
		p.Events = append(p.Events, event.New(source, kind, toggle, sequence, *cmp.Or(entry.Time("time"), &time.Time{}), data))
	}
	return p
}
