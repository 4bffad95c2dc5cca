package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/dynamo"
)

const (
	// maxActions is what one transaction may hold.
	maxActions = 100

	// markerLife is longer than any delivery can be late: a day of CloudWatch Logs' own attempts, six hours of Lambda's, and the 14 days
	// that the queue of failures keeps what was given up.
	markerLife = 30 * 24 * time.Hour
)

// Ledger counts batches in DynamoDB. It is safe for concurrent use.
type Ledger struct {
	client *dynamodb.Client
	table  string
	now    func() time.Time
	exact  bool
}

var _ Recorder = (*Ledger)(nil)

// NewLedger makes a ledger on the table Traffic. An exact one marks every event instead of every batch: it counts once also what comes
// again in a batch of another cut, and pays for each event what a batch costs otherwise.
func NewLedger(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time, exact bool) *Ledger {
	return &Ledger{client, tables.Traffic, now, exact}
}

// Record implements Recorder. A batch is one transaction: the marker, and one ADD per path and day. One with more items than a transaction
// holds is written in parts, each with a marker of its own; the cut depends on nothing but the batch and the paths that are counted.
func (l *Ledger) Record(ctx context.Context, b *Batch) (Recorded, error) {
	if l.exact {
		return l.recordEvents(ctx, b)
	}
	var done Recorded
	part := 0
	for usage := range slices.Chunk(Tally(b.Requests), maxActions-1) {
		actions := []types.TransactWriteItem{l.mark("batch#"+b.ID, part)}
		requests := 0
		for i := range usage {
			actions = append(actions, l.add(&usage[i], b.Shard))
			requests += usage[i].Counts.total()
		}
		failures, err := dynamo.Transact(ctx, l.client, actions)
		if err != nil {
			return done, fmt.Errorf("record a batch: %w", err)
		}
		done.Writes++
		if failures == nil {
			done.Counted += requests
		} else { // the marker's is the only condition
			done.Duplicate += requests
		}
		part++
	}
	return done, nil
}

// mark is the marker's write, which fails where there is one already.
func (l *Ledger) mark(hash string, part int) types.TransactWriteItem {
	sort := "-"
	if part > 0 {
		sort += strconv.Itoa(part)
	}
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &l.table,
		Item: dynamo.Item{
			"period": dynamo.S(hash), "pathDayShard": dynamo.S(sort), "expiresAt": dynamo.N(l.now().Add(markerLife).Unix()),
		},
		ConditionExpression:      aws.String("attribute_not_exists(#period)"),
		ExpressionAttributeNames: map[string]string{"#period": "period"},
	}}
}

// add is the one write of an item: all its groups in one ADD. It has no condition: the marker beside it has.
func (l *Ledger) add(u *Usage, shard int) types.TransactWriteItem {
	day := u.Day.Format(time.DateOnly)
	update := &types.Update{
		TableName: &l.table,
		Key: dynamo.Item{
			"period": dynamo.S(day[:len("2006-01")]), "pathDayShard": dynamo.S(u.APIPath + "#" + day + "#" + strconv.Itoa(shard)),
		},
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: dynamo.Item{},
	}
	expression := "ADD"
	for i, counter := range []struct {
		name  string
		count int64
	}{{"successfulRequests", u.Counts.Successful}, {"clientErrors", u.Counts.ClientErrors}, {"serverErrors", u.Counts.ServerErrors}} {
		if counter.count == 0 {
			continue
		}
		if expression != "ADD" {
			expression += ","
		}
		n := strconv.Itoa(i)
		expression += " #c" + n + " :c" + n
		update.ExpressionAttributeNames["#c"+n] = counter.name
		update.ExpressionAttributeValues[":c"+n] = dynamo.N(counter.count)
	}
	update.UpdateExpression = &expression
	return types.TransactWriteItem{Update: update}
}

// errNoMarkerFailed is no answer of DynamoDB's: only markers have conditions.
var errNoMarkerFailed = errors.New("a transaction failed, but none of its markers did")

// recordEvents counts a batch event by event, each with a marker, as many in a transaction as fit. Events that were counted before are
// taken out, and the transaction is tried again without them.
func (l *Ledger) recordEvents(ctx context.Context, b *Batch) (Recorded, error) {
	var done Recorded
	for left := b.Requests; len(left) > 0; {
		n := fitting(left)
		requests := slices.Clone(left[:n])
		left = left[n:]
		for len(requests) > 0 {
			failures, err := dynamo.Transact(ctx, l.client, l.eventActions(requests, b.Shard))
			if err != nil {
				return done, fmt.Errorf("record events: %w", err)
			}
			done.Writes++
			if failures == nil {
				done.Counted += len(requests)
				break
			}
			fresh := requests[:0]
			for i := range requests {
				if !failures[i].Failed {
					fresh = append(fresh, requests[i])
				}
			}
			if len(fresh) == len(requests) {
				return done, apierror.NewUnavailable(errNoMarkerFailed)
			}
			done.Duplicate += len(requests) - len(fresh)
			requests = fresh
		}
	}
	return done, nil
}

// fitting is how many requests from the front fit into one transaction: a marker each, and an item for each path and day.
func fitting(requests []Request) int {
	type place struct {
		path string
		day  time.Time
	}
	items := map[place]bool{}
	for i := range requests {
		items[place{requests[i].APIPath, requests[i].Day}] = true
		if i+1+len(items) > maxActions {
			return i
		}
	}
	return len(requests)
}

// eventActions has the markers first, in the order of the requests.
func (l *Ledger) eventActions(requests []Request, shard int) []types.TransactWriteItem {
	actions := make([]types.TransactWriteItem, 0, maxActions)
	for i := range requests {
		actions = append(actions, l.mark("event#"+newDigest(requests[i].Event).text(), 0))
	}
	usage := Tally(requests)
	for i := range usage {
		actions = append(actions, l.add(&usage[i], shard))
	}
	return actions
}
