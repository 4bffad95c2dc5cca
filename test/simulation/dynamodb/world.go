package dynamodb

import (
	"fmt"

	"toggleadmin/pkg/platform/dynamo"
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

// Records returns at most limit records of a table's stream from a position on, in the order of the writes, as the JSON
// that Lambda passes to a function, and their number. The first record has the position 0 and the sequence number 1.
// The stream has one shard.
func (db *DB) Records(table string, from, limit int) (event []byte, n int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	all := db.table(table).records[from:]
	all = all[:min(limit, len(all))]
	b := []byte(`{"Records":[`)
	for i, r := range all {
		name := "MODIFY"
		switch {
		case r.old == nil:
			name = "INSERT"
		case r.new == nil:
			name = "REMOVE"
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b,
			`{"eventID":"%s-%d","eventName":"%s","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1",`+
				`"eventSourceARN":"arn:aws:dynamodb:us-east-1:000000000000:table/%[1]s/stream/2000-01-01T00:00:00.000","dynamodb":{`+
				`"ApproximateCreationDateTime":%[4]d,"SequenceNumber":"%021[5]d","StreamViewType":"NEW_AND_OLD_IMAGES","Keys":`,
			table, from+i, name, r.at.Unix(), from+i+1)
		b = r.key.append(b)
		if r.old != nil {
			b = r.old.append(append(b, `,"OldImage":`...))
		}
		if r.new != nil {
			b = r.new.append(append(b, `,"NewImage":`...))
		}
		b = append(b, "}}"...)
	}
	return append(b, "]}"...), len(all)
}
