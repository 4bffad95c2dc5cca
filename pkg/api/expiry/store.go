// Package expiry records that tokens are about to expire. It serves the stores of all tokens that the sweep of package
// tokenexpiry reads.
package expiry

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// AttributeAnnouncedDays is the attribute of a token's item with the lowest threshold that was recorded.
const AttributeAnnouncedDays = "announcedDays"

// Token is a token as it was read.
type Token struct {
	Table    string
	Key      dynamo.Item
	HashName string                           // the name of the table's partition key
	Last     int64                            // the id of the token's last event
	Change   func(days int64) eventlog.Change // the record of a threshold
}

// Record records that a token has reached a threshold. It does nothing if the token was changed or deleted after it was
// read. The event and the threshold in the token's item are one transaction.
func Record(ctx context.Context, log *eventlog.Log, t Token, days int64) error {
	_, err := log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, event, err := log.RecordActions(ctx, t.Change(days))
		update := dynamo.UpdateItem(t.Table, t.Key, expression.NewBuilder().
			WithCondition(eventlog.ExistsWithLast(t.HashName, t.Last)).
			WithUpdate(eventlog.SetLast(id).Set(expression.Name(AttributeAnnouncedDays), expression.Value(days))))
		return append([]types.TransactWriteItem{update}, event...), err
	})
	return err
}

// RecordNow returns the actions that record at once that a token expires which is created or changed now, and the id of
// the event, or no actions if the next sweep finds the token before it expires. The recorded threshold is
// access.LastThreshold.
func RecordNow(
	ctx context.Context, log *eventlog.Log, expires, now time.Time, change eventlog.Change,
) (id int64, actions []types.TransactWriteItem, err error) {
	if left := expires.Sub(now); left <= 0 || left >= access.ShortLife {
		return 0, nil, nil
	}
	return log.RecordActions(eventlog.WithActor(ctx, eventlog.System), change)
}
