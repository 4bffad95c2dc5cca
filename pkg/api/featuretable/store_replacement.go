package featuretable

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// Replacement returns the update that makes the item of a toggle the one that Marshal returns. It leaves
// AttributeLastSeen as it is, so that a change of a toggle and the sweep that writes the attribute do not affect each
// other.
func Replacement(f toggle.Feature) expression.UpdateBuilder {
	item := Marshal(f)
	var update expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if name != Hash {
			update = update.Set(expression.Name(name), expression.Value(item[name]))
		}
	}
	for _, name := range []string{
		eventlog.AttributeEvent, AttributeDescription, AttributeImpressionData, AttributeCreatorID, AttributeCreatorName,
		AttributeArchivedAt, AttributeDependency, AttributeChildren, AttributeEnvironments, AttributeStaleness,
		AttributeImported,
	} {
		if _, ok := item[name]; !ok {
			update = update.Remove(expression.Name(name))
		}
	}
	return update
}
