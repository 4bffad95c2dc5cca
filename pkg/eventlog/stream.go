package eventlog

import (
	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/platform/dynamo"
)

// FromStream returns the event that a record of the stream of the table appended to the log. It returns false for
// another record: the write of another item, or a deletion by the time to live.
func FromStream(record events.DynamoDBEventRecord) (Event, bool) {
	if record.EventName != string(events.DynamoDBOperationTypeInsert) {
		return Event{}, false
	}
	item := dynamo.Item{}
	for name, v := range record.Change.NewImage {
		switch v.DataType() {
		case events.DataTypeString:
			item[name] = dynamo.S(v.String())
		case events.DataTypeNumber:
			if n, err := v.Integer(); err == nil { // all numbers of the log are integers
				item[name] = dynamo.N(n)
			}
		default:
		}
	}
	return FromItem(item)
}
