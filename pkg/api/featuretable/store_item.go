package featuretable

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// A search converts all items of the table. attributes and UnmarshalRow name each attribute, because package
// attributevalue, which uses reflection, takes three to four times as long.

// attributes returns all attributes of the item of a toggle but AttributeFirstSeen and AttributeLastSeen. Those that the
// item does not have are nil.
func attributes(f toggle.Feature) dynamo.Item {
	creator, created := toggle.Creator{}, f.CreatedBy != nil
	if created {
		creator = *f.CreatedBy
	}
	return dynamo.Item{
		Hash:                      dynamo.S(f.Name),
		AttributeProject:          dynamo.S(f.Project),
		AttributeType:             dynamo.S(f.Type),
		AttributeCreatedAt:        dynamo.Time(f.CreatedAt),
		AttributeArchived:         dynamo.Bool(f.Archived),
		AttributeStale:            dynamo.Bool(f.Stale),
		AttributePotentiallyStale: dynamo.Bool(f.PotentiallyStale),
		AttributeContextFields:    dynamo.Strings(f.ContextFields),

		eventlog.AttributeEvent: optional(f.LastEvent != 0, func() value { return dynamo.N(f.LastEvent) }),
		AttributeDescription:    optional(f.Description != nil, func() value { return dynamo.S(*f.Description) }),
		AttributeImpressionData: optional(f.ImpressionData, func() value { return dynamo.Bool(true) }),
		AttributeCreatorID:      optional(creator.ID != 0, func() value { return dynamo.N(creator.ID) }),
		AttributeCreatorName:    optional(created && creator.ID == 0, func() value { return dynamo.S(creator.Name) }),
		AttributeArchivedAt:     optional(f.ArchivedAt != nil, func() value { return dynamo.Time(*f.ArchivedAt) }),
		AttributeDependency: optional(f.Dependency != nil, func() value {
			return dynamo.M(dynamo.Item{
				dependencyFeature:  dynamo.S(f.Dependency.Feature),
				dependencyEnabled:  dynamo.Bool(f.Dependency.Enabled),
				dependencyVariants: dynamo.Strings(f.Dependency.Variants),
			})
		}),
		AttributeManagedBy: optional(f.ManagedBy != "", func() value { return dynamo.S(f.ManagedBy) }),
		AttributeOwner:     optional(f.Owner != nil, func() value { return dynamo.S(f.Owner.String()) }),
		AttributeKeepUntil: optional(f.Keep != nil, func() value { return dynamo.S(f.Keep.Day()) }),
		AttributeKeepReason: optional(f.Keep != nil && f.Keep.Reason != "", func() value {
			return dynamo.S(f.Keep.Reason)
		}),
		AttributeLinks:        optional(len(f.Links) > 0, func() value { return dynamo.Maps(linkItems(f.Links)) }),
		AttributeTags:         optional(len(f.Tags) > 0, func() value { return dynamo.Strings(tagTexts(f.Tags)) }),
		AttributeImported:     optional(f.Imported != "", func() value { return dynamo.S(f.Imported) }),
		AttributeChildren:     optional(len(f.Children) > 0, func() value { return dynamo.Strings(f.Children) }),
		AttributeEnvironments: optional(len(f.Environments) > 0, func() value { return dynamo.B(encode(f)) }),
		AttributeForAllSince: optional(len(f.ForAllSince) > 0, func() value {
			return dynamo.S(EncodeTimes(f.ForAllSince))
		}),
		AttributeStaleSince: optional(f.StaleSince != nil, func() value { return dynamo.Time(*f.StaleSince) }),
		AttributeStaleness: optional(f.CanBecomeStale(), func() value {
			return dynamo.S(StalenessKey(f.Type, f.PotentiallyStale, Shard(f.Name)))
		}),
	}
}

func linkItems(links []toggle.Link) []dynamo.Item {
	items := make([]dynamo.Item, len(links))
	for i, link := range links {
		items[i] = dynamo.Item{linkID: dynamo.S(link.ID), linkURL: dynamo.S(link.URL)}
		if link.Title != nil {
			items[i][linkTitle] = dynamo.S(*link.Title)
		}
	}
	return items
}

func tagTexts(tags []toggle.Tag) []string {
	texts := make([]string, len(tags))
	for i, tag := range tags {
		texts[i] = tag.String()
	}
	return texts
}

type value = types.AttributeValue

// optional returns the value of an attribute that an item does not always have.
func optional(has bool, of func() value) value {
	if !has {
		return nil
	}
	return of()
}

// Marshal returns the item of a toggle, without AttributeFirstSeen and AttributeLastSeen.
func Marshal(f toggle.Feature) dynamo.Item {
	item := attributes(f)
	maps.DeleteFunc(item, func(_ string, v value) bool { return v == nil })
	return item
}

// Replacement returns the update that makes the item of a toggle the one that Marshal returns. It leaves
// AttributeFirstSeen and AttributeLastSeen as they are, so that a change of a toggle and the sweep that writes these
// attributes do not affect each other.
func Replacement(f toggle.Feature) expression.UpdateBuilder {
	item := attributes(f)
	var update expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(item)) {
		switch v := item[name]; {
		case name == Hash:
		case v == nil:
			update = update.Remove(expression.Name(name))
		default:
			update = update.Set(expression.Name(name), expression.Value(v))
		}
	}
	return update
}
