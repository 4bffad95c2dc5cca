package featuretype

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
)

// Attributes of announcements. A change of the lifetime appends an entry to pending and increments sequence, so the last entry has the item's
// sequence. Once the announcements are sent, only sequence remains.
const (
	attributeSequence = "sequence"
	attributePending  = "pending"
	// attributePendingFrom is the lifetime before the oldest pending change; 0: none.
	attributePendingFrom = "pendingFrom"
)

// announce adds the announcement of a change to an update and returns its assignments.
func (s *Store) announce(ctx context.Context, input *dynamodb.UpdateItemInput, days *int64) []string {
	now := s.now()
	entry := dynamo.Item{"changedBy": dynamo.S(auth.PrincipalFrom(ctx).ID), "time": dynamo.Time(now)}
	if days != nil {
		entry["lifetimeDays"] = dynamo.N(*days)
	}
	for _, attribute := range []string{attributeSequence, attributePending, attributePendingFrom} {
		input.ExpressionAttributeNames["#"+attribute] = attribute
	}
	maps.Copy(input.ExpressionAttributeValues, dynamo.Item{
		":start": dynamo.N(now.UnixMilli()), ":zero": dynamo.N(0), ":one": dynamo.N(1), ":none": dynamo.L(), ":entry": dynamo.L(entry),
	})
	return []string{
		"#sequence = if_not_exists(#sequence, :start) + :one", "#pending = list_append(if_not_exists(#pending, :none), :entry)",
		"#pendingFrom = if_not_exists(#pendingFrom, if_not_exists(#lifetimeDays, :zero))",
	}
}

// pending reads the announcements of an item.
func (s *Store) pending(item dynamo.Item) []event.Event {
	entries, sequence, id := item.Maps(attributePending), item.Int(attributeSequence), item.String(hash)
	previous := lifetime(item, attributePendingFrom)
	var all []event.Event
	for i, entry := range entries {
		data := event.FeatureType{
			ID: id, LifetimeDays: lifetime(entry, "lifetimeDays"), PreviousLifetimeDays: previous, ChangedBy: changer(entry.String("changedBy")),
		}
		at := *cmp.Or(entry.Time("time"), &time.Time{})
		all = append(all, event.New(s.source, event.FeatureTypeUpdated, id, sequence-int64(len(entries)-1-i), at, data))
		previous = data.LifetimeDays
	}
	return all
}

// changer returns who made a change, from the id of a principal.
func changer(principal string) event.Changer {
	kind, id, _ := strings.Cut(principal, ":")
	if user, ok := auth.ParseID(id); ok && kind == "user" {
		return event.Changer{Type: kind, ID: user}
	}
	return event.Changer{Type: kind, ID: id}
}

// Announced clears the announcements of a type, which were sent. If there are newer ones, it clears nothing, and all of them are sent again.
// It is a single attempt.
func (s *Store) Announced(ctx context.Context, t FeatureType) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{hash: dynamo.S(t.ID)},
		UpdateExpression:    aws.String("REMOVE #pending, #pendingFrom"),
		ConditionExpression: aws.String("#sequence = :sequence"),
		ExpressionAttributeNames: map[string]string{
			"#pending": attributePending, "#pendingFrom": attributePendingFrom, "#sequence": attributeSequence,
		},
		ExpressionAttributeValues: dynamo.Item{":sequence": &types.AttributeValueMemberN{Value: t.Pending[len(t.Pending)-1].Sequence}},
	}, dynamo.Once)
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("clear the announcements of feature type %q: %w", t.ID, err)
	}
	return nil
}
