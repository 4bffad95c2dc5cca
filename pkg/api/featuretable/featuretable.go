// Package featuretable is the form of toggles in the table Features: their items, the staleness index, and reading the
// table. It has no rules of toggles. pkg/api/feature writes the table. UpdateSeen writes two attributes of it,
// AttributeFirstSeen and AttributeLastSeen: for the sweep of the usage, and for imports.
package featuretable

import (
	"fmt"
	"slices"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Table is the logical id of the table.
const Table = "Features"

// Attributes of the table.
const (
	Hash                      = "name" // the partition key
	AttributeProject          = "project"
	AttributeType             = "type"
	AttributeDescription      = "description"
	AttributeImpressionData   = "impressionData"
	AttributeCreatedAt        = "createdAt"
	AttributeCreatorID        = "createdById"
	AttributeCreatorName      = "createdBy" // of an imported toggle, which has no AttributeCreatorID
	AttributeArchived         = "archived"
	AttributeArchivedAt       = "archivedAt"
	AttributeStale            = "stale"
	AttributePotentiallyStale = "potentiallyStale"
	AttributeContextFields    = "contextFields"
	AttributeDependency       = "dependency"
	AttributeChildren         = "children"
	AttributeManagedBy        = "managedBy"
	AttributeTags             = "tags"      // texts such as simple:checkout
	AttributeOwner            = "owner"     // a text such as user:7
	AttributeKeepUntil        = "keepUntil" // a date such as 2027-01-31
	AttributeKeepReason       = "keepReason"
	AttributeLinks            = "links"

	AttributeEnvironments = "environments" // the state of all environments; encode has its form
	AttributeFirstSeen    = "firstSeen"    // when applications first used it; EncodeTimes has its form
	AttributeLastSeen     = "lastSeen"     // when they last used it, in the same form
	AttributeForAllSince  = "forAllSince"  // from when on it is on for everybody, in the same form
	AttributeStaleSince   = "staleSince"   // when it was marked as stale
	AttributeImported     = "imported"     // the state that the last import wrote
)

// The attributes of a link.
const (
	linkID    = "id"
	linkURL   = "url"
	linkTitle = "title"
)

// The attributes of a dependency.
const (
	dependencyFeature  = "feature"
	dependencyEnabled  = "enabled"
	dependencyVariants = "variants"
)

// Key returns the key of a toggle.
func Key(name string) dynamo.Item { return dynamo.Item{Hash: dynamo.S(name)} }

// Row is a toggle as a search reads it. The states of its environments are decoded on request, because that takes
// longer than reading the item.
type Row struct {
	Toggle    toggle.Feature // without Environments
	EnabledIn []string       // the environments in which it is on, sorted
	Segments  []int64        // the ids of the segments that its strategies use, sorted

	environments []byte
	firstSeen    string
	lastSeen     string
	forAllSince  string
}

// withTimes returns the toggle with the times of its environments.
func (r Row) withTimes() toggle.Feature {
	f := r.Toggle
	f.FirstSeen, f.LastSeen, f.ForAllSince = DecodeTimes(r.firstSeen), DecodeTimes(r.lastSeen), DecodeTimes(r.forAllSince)
	return f
}

// Stage returns the stage of the toggle; see toggle.Feature.Stage.
func (r Row) Stage(production []string, now time.Time) toggle.Stage {
	return r.withTimes().Stage(production, now)
}

// LifecycleStage returns the stage of the toggle in Unleash; see toggle.Feature.Lifecycle.
func (r Row) LifecycleStage(production []string, now time.Time) toggle.LifecycleStage {
	reached := r.withTimes().Lifecycle(production, now)
	return reached[len(reached)-1].Stage
}

// LastSeenAt returns when applications last used the toggle in any environment, or the zero time if they never
// did.
func (r Row) LastSeenAt() time.Time {
	var last int64
	for _, at := range timesOf(r.lastSeen) {
		last = max(last, at)
	}
	if last == 0 {
		return time.Time{}
	}
	return time.Unix(last, 0).UTC()
}

// UnmarshalRow reads a row from an item, or from a part of it, such as an item of an index. What the part lacks has its
// zero value.
func UnmarshalRow(item dynamo.Item) Row {
	f := toggle.Feature{
		Name:             item.String(Hash),
		Project:          item.String(AttributeProject),
		Type:             item.String(AttributeType),
		ImpressionData:   item.Bool(AttributeImpressionData),
		Archived:         item.Bool(AttributeArchived),
		ArchivedAt:       item.Time(AttributeArchivedAt),
		Stale:            item.Bool(AttributeStale),
		StaleSince:       item.Time(AttributeStaleSince),
		PotentiallyStale: item.Bool(AttributePotentiallyStale),
		ContextFields:    item.Strings(AttributeContextFields),
		Children:         item.Strings(AttributeChildren),
		ManagedBy:        item.String(AttributeManagedBy),
		Tags:             tagsOf(item),
		Owner:            ownerOf(item),
		Keep:             keepOf(item),
		Links:            linksOf(item),
		Imported:         item.String(AttributeImported),
		LastEvent:        item.Int(eventlog.AttributeEvent),
	}
	if _, ok := item[AttributeDescription]; ok {
		f.Description = new(item.String(AttributeDescription))
	}
	if item[AttributeCreatorID] != nil || item[AttributeCreatorName] != nil {
		f.CreatedBy = &toggle.Creator{ID: item.Int(AttributeCreatorID), Name: item.String(AttributeCreatorName)}
	}
	if created := item.Time(AttributeCreatedAt); created != nil {
		f.CreatedAt = *created
	}
	if d := item.Map(AttributeDependency); d != nil {
		f.Dependency = &toggle.Dependency{
			Feature:  d.String(dependencyFeature),
			Enabled:  d.Bool(dependencyEnabled),
			Variants: append([]string{}, d.Strings(dependencyVariants)...),
		}
	}
	row := Row{
		Toggle: f, firstSeen: item.String(AttributeFirstSeen), lastSeen: item.String(AttributeLastSeen),
		forAllSince: item.String(AttributeForAllSince),
	}
	row.EnabledIn, row.Segments, row.environments = divide(item.Bytes(AttributeEnvironments))
	return row
}

// tagsOf returns the tags of an item, or nil. It ignores what attributes did not write.
func tagsOf(item dynamo.Item) (tags []toggle.Tag) {
	for _, text := range item.Strings(AttributeTags) {
		if tag, ok := toggle.ParseTag(text); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}

// ownerOf returns the owner of an item, or nil. It ignores what attributes did not write.
func ownerOf(item dynamo.Item) *toggle.Owner {
	if owner, ok := toggle.ParseOwner(item.String(AttributeOwner)); ok {
		return &owner
	}
	return nil
}

// keepOf returns until when the toggle of an item is kept, or nil. It ignores what attributes did not write.
func keepOf(item dynamo.Item) *toggle.Keep {
	until, err := toggle.ParseDay(item.String(AttributeKeepUntil))
	if err != nil {
		return nil
	}
	return &toggle.Keep{Until: until, Reason: item.String(AttributeKeepReason)}
}

// linksOf returns the links of an item, or nil.
func linksOf(item dynamo.Item) (links []toggle.Link) {
	for _, stored := range item.Maps(AttributeLinks) {
		link := toggle.Link{ID: stored.String(linkID), URL: stored.String(linkURL)}
		if _, ok := stored[linkTitle]; ok {
			link.Title = new(stored.String(linkTitle))
		}
		links = append(links, link)
	}
	return links
}

// Feature returns the toggle with the states of its environments. An error means that the item was not written by the
// service.
func (r Row) Feature() (toggle.Feature, error) {
	f := r.withTimes()
	if r.environments == nil {
		return f, nil
	}
	var err error
	if f.Environments, err = decode(r.environments); err != nil {
		return toggle.Feature{}, fmt.Errorf("decode the environments of the toggle %q: %w", f.Name, err)
	}
	return f, nil
}

// Features returns the toggles of rows.
func Features(rows []Row) ([]toggle.Feature, error) {
	all := make([]toggle.Feature, len(rows))
	for i, row := range rows {
		f, err := row.Feature()
		if err != nil {
			return nil, err
		}
		all[i] = f
	}
	return all, nil
}

// Names returns the names of the toggles in rows, sorted.
func Names(rows []Row) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Toggle.Name
	}
	slices.Sort(names)
	return names
}

// Unmarshal reads a toggle from its item. An error means that the item was not written by the service.
func Unmarshal(item dynamo.Item) (toggle.Feature, error) { return UnmarshalRow(item).Feature() }
