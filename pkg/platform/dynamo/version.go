package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// VersionKey is the key of the item with the version of a table.
const VersionKey = "#version"

const attributeVersion = "version"

// TableVersion is the version of all resources in a table, in an item of its own. Every write that can affect writes of
// other resources changes it. A write that depends on all resources, such as one that checks a limit, reads the version,
// then the resources, and has the condition that the version has not changed. It is safe for concurrent use.
type TableVersion struct {
	client *dynamodb.Client
	table  string
	key    Item
}

// NewTableVersion returns the version of a table whose partition key, hash, is a string.
func NewTableVersion(client *dynamodb.Client, table, hash string) TableVersion {
	return TableVersion{client: client, table: table, key: Item{hash: S(VersionKey)}}
}

// Get returns the item with the version, which is nil before the first change. Call it before a Scan of the resources,
// because a Scan is not a snapshot.
func (v TableVersion) Get(ctx context.Context) (Item, error) {
	return Get(ctx, v.client, v.table, v.key)
}

// Next returns the action that changes the version.
func (v TableVersion) Next() types.TransactWriteItem {
	return v.action(expression.NewBuilder().WithUpdate(nextVersion()))
}

// NextAfter returns the action that changes the version and sets other attributes of its item. The action fails if the
// version has changed since Get returned stored.
func (v TableVersion) NextAfter(stored, others Item) types.TransactWriteItem {
	update := nextVersion()
	for name, value := range others {
		update = update.Set(expression.Name(name), expression.Value(value))
	}
	return v.action(expression.NewBuilder().WithCondition(is(stored)).WithUpdate(update))
}

// Same returns the condition that the version has not changed since Get returned stored.
func (v TableVersion) Same(stored Item) types.TransactWriteItem {
	return CheckItem(v.table, v.key, is(stored))
}

// is returns the condition that the version is that of stored.
func is(stored Item) expression.ConditionBuilder {
	version := expression.Name(attributeVersion)
	if value, ok := stored[attributeVersion]; ok {
		return version.Equal(expression.Value(value))
	}
	return version.AttributeNotExists()
}

func nextVersion() expression.UpdateBuilder {
	return expression.Add(expression.Name(attributeVersion), expression.Value(1))
}

func (v TableVersion) action(builder expression.Builder) types.TransactWriteItem {
	return UpdateItem(v.table, v.key, builder)
}
