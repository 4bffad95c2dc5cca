// Package featuretable is the form of toggles in the table Features: their items, the staleness index, and reading the
// table. It has no rules of toggles. pkg/api/feature is the only writer of the table.
package featuretable

import (
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
	AttributeCreatorName      = "createdBy"
	AttributeArchived         = "archived"
	AttributeArchivedAt       = "archivedAt"
	AttributeStale            = "stale"
	AttributePotentiallyStale = "potentiallyStale"
	AttributeContextFields    = "contextFields"
)

// Key returns the key of a toggle.
func Key(name string) dynamo.Item { return dynamo.Item{Hash: dynamo.S(name)} }

// A search converts all items of the table. Marshal and Unmarshal name each attribute, because package attributevalue,
// which uses reflection, takes three to four times as long.

// Marshal returns the item of a toggle.
func Marshal(f toggle.Feature) dynamo.Item {
	item := dynamo.Item{
		Hash:                      dynamo.S(f.Name),
		AttributeProject:          dynamo.S(f.Project),
		AttributeType:             dynamo.S(f.Type),
		AttributeCreatedAt:        dynamo.Time(f.CreatedAt),
		AttributeArchived:         dynamo.Bool(f.Archived),
		AttributeStale:            dynamo.Bool(f.Stale),
		AttributePotentiallyStale: dynamo.Bool(f.PotentiallyStale),
		AttributeContextFields:    dynamo.Strings(f.ContextFields),
	}
	if f.LastEvent != 0 {
		item[eventlog.AttributeEvent] = dynamo.N(f.LastEvent)
	}
	if f.Description != nil {
		item[AttributeDescription] = dynamo.S(*f.Description)
	}
	if f.ImpressionData {
		item[AttributeImpressionData] = dynamo.Bool(true)
	}
	if f.CreatedBy != nil {
		item[AttributeCreatorID] = dynamo.N(f.CreatedBy.ID)
		item[AttributeCreatorName] = dynamo.S(f.CreatedBy.Name)
	}
	if f.ArchivedAt != nil {
		item[AttributeArchivedAt] = dynamo.Time(*f.ArchivedAt)
	}
	if f.CanBecomeStale() {
		item[AttributeStaleness] = dynamo.S(StalenessKey(f.Type, f.PotentiallyStale, Shard(f.Name)))
	}
	return item
}

// Unmarshal reads a toggle from its item, or from a part of it, such as an item of an index. What the part lacks has its
// zero value.
func Unmarshal(item dynamo.Item) toggle.Feature {
	f := toggle.Feature{
		Name:             item.String(Hash),
		Project:          item.String(AttributeProject),
		Type:             item.String(AttributeType),
		ImpressionData:   item.Bool(AttributeImpressionData),
		Archived:         item.Bool(AttributeArchived),
		ArchivedAt:       item.Time(AttributeArchivedAt),
		Stale:            item.Bool(AttributeStale),
		PotentiallyStale: item.Bool(AttributePotentiallyStale),
		ContextFields:    item.Strings(AttributeContextFields),
		LastEvent:        item.Int(eventlog.AttributeEvent),
	}
	if _, ok := item[AttributeDescription]; ok {
		f.Description = new(item.String(AttributeDescription))
	}
	if _, ok := item[AttributeCreatorName]; ok {
		f.CreatedBy = &toggle.Creator{ID: item.Int(AttributeCreatorID), Name: item.String(AttributeCreatorName)}
	}
	if created := item.Time(AttributeCreatedAt); created != nil {
		f.CreatedAt = *created
	}
	return f
}
