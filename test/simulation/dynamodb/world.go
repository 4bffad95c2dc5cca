package dynamodb

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/dynamo"
)

// Items returns the items of a table in the order of a Scan.
func (db *DB) Items(table string) (all []dynamo.Item) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, r := range db.table(table).rows {
		all = append(all, r.item.decoded())
	}
	return all
}

// Records returns the records of a table's stream from a position on, in the order of the writes, as Lambda passes them to a function. The
// first record has the position 0. The stream has one shard.
func (db *DB) Records(table string, from int) (all []events.DynamoDBEventRecord) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for n, r := range db.table(table).records[from:] {
		all = append(all, r.event(table, from+n))
	}
	return all
}

func (r *record) event(table string, n int) events.DynamoDBEventRecord {
	name := events.DynamoDBOperationTypeModify
	switch {
	case r.old == nil:
		name = events.DynamoDBOperationTypeInsert
	case r.new == nil:
		name = events.DynamoDBOperationTypeRemove
	}
	return events.DynamoDBEventRecord{
		EventID: fmt.Sprintf("%s-%d", table, n), EventName: string(name), EventVersion: "1.1", EventSource: "aws:dynamodb", AWSRegion: "us-east-1",
		EventSourceArn: "arn:aws:dynamodb:us-east-1:000000000000:table/" + table + "/stream/2000-01-01T00:00:00.000",
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: r.at.Truncate(time.Second)},
			Keys:                        r.key.event(), NewImage: r.new.event(), OldImage: r.old.event(),
			SequenceNumber: fmt.Sprintf("%021d", n+1), SizeBytes: int64(r.key.size() + r.new.size() + r.old.size()),
			StreamViewType: "NEW_AND_OLD_IMAGES",
		},
	}
}

func (i item) event() (all map[string]events.DynamoDBAttributeValue) {
	if i == nil {
		return nil
	}
	if err := json.Unmarshal(i.append(nil), &all); err != nil {
		panic(err)
	}
	return all
}
