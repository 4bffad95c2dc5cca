package traffic

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Traffic"

// Store counts requests in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// key is the key of an item: of a counter, or of the marker of a part of a batch.
type key struct {
	Period       string `dynamodbav:"period"`       // YYYY-MM, or batch#<id>
	PathDayShard string `dynamodbav:"pathDayShard"` // <apiPath>#<day>#<shard>, or the number of the part
}

// counters is the item with the counters of a path, day and shard.
type counters struct {
	key
	Successful   int64 `dynamodbav:"successfulRequests"`
	ClientErrors int64 `dynamodbav:"clientErrors"`
	ServerErrors int64 `dynamodbav:"serverErrors"`
}

// marker is the item that marks a part of a batch as counted.
type marker struct {
	key
	ExpiresAt int64 `dynamodbav:"expiresAt"` // the table's time to live, in seconds since 1970
}

// NewStore returns a store on the table Traffic.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables[Table]}
}

// Report returns the usage in a period (YYYY-MM), ordered by path, then day. It makes one consistent Query per MB.
func (s *Store) Report(ctx context.Context, period string) ([]Usage, error) {
	sums := tally{}
	for item, err := range dynamo.Query(ctx, s.client, s.table, "period", dynamo.S(period)) {
		if err != nil {
			return nil, fmt.Errorf("report the traffic of %s: %w", period, err)
		}
		var stored counters
		if err := dynamo.Unmarshal(item, &stored); err != nil {
			return nil, fmt.Errorf("report the traffic of %s: %w", period, err)
		}
		at, err := parseKey(stored.PathDayShard)
		if err != nil {
			return nil, fmt.Errorf("report the traffic of %s: %w", period, err)
		}
		sums.add(at, Counts{
			Successful:   stored.Successful,
			ClientErrors: stored.ClientErrors,
			ServerErrors: stored.ServerErrors,
		})
	}
	return sums.usage(), nil
}

// firstHourShard is the shard of the first hour of a day. Shards below it are for the access log.
const firstHourShard = 100

// PutHour stores the requests of a path in an hour of which the caller knows all requests so far. A repeated call counts
// nothing twice. Lower counts than the stored ones are those of an earlier time, and change nothing.
func (s *Store) PutHour(ctx context.Context, path string, hour time.Time, c Counts) error {
	hour = hour.UTC()
	day := hour.Format(time.DateOnly)
	isLater := expression.Name("successfulRequests").LessThanEqual(expression.Value(c.Successful)).
		And(expression.Name("clientErrors").LessThanEqual(expression.Value(c.ClientErrors))).
		And(expression.Name("serverErrors").LessThanEqual(expression.Value(c.ServerErrors)))
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name("period").AttributeNotExists().Or(isLater)))
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: dynamo.Marshal(counters{
			key: key{
				Period:       day[:len("2006-01")],
				PathDayShard: path + "#" + day + "#" + strconv.Itoa(firstHourShard+hour.Hour()),
			},
			Successful:   c.Successful,
			ClientErrors: c.ClientErrors,
			ServerErrors: c.ServerErrors,
		}),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("store the requests of %s in the hour %s: %w", path, hour.Format(time.RFC3339), err)
	}
	return nil
}

var counterKey = regexp.MustCompile(`^(.*)#([-\d]+)#\d+$`)

// parseKey reads the sort key of a counter, <apiPath>#<day>#<shard>.
func parseKey(key string) (pathAndDay, error) {
	if parts := counterKey.FindStringSubmatch(key); parts != nil {
		if day, err := time.Parse(time.DateOnly, parts[2]); err == nil {
			return pathAndDay{parts[1], day}, nil
		}
	}
	return pathAndDay{}, fmt.Errorf("the key %q is not <apiPath>#<day>#<shard>", key)
}

const (
	maxActions = 100 // in one transaction

	// markerDays is longer than any delivery can be late: CloudWatch Logs retries for one day, Lambda for six hours, and
	// the on-failure queue retains a delivery for 14 days.
	markerDays = 30
)

// Recorded is the result of recording a batch.
type Recorded struct {
	Counted   int // requests that are counted now
	Duplicate int // requests that an earlier delivery counted
	Writes    int // transactions
}

// Record counts a batch that was not counted before, in one transaction: it writes a marker of the batch and adds to
// one item per path and day. A batch that has more items than a transaction can contain is written in parts. Each part
// has its own marker, and depends only on the batch and the counted paths. After an error any part may have been
// counted; recording the same batch again counts the rest.
func (s *Store) Record(ctx context.Context, b *Batch, now time.Time) (Recorded, error) {
	var done Recorded
	for part := range slices.Chunk(b.Usage, maxActions-1) {
		actions := []types.TransactWriteItem{s.mark(b.ID, done.Writes, now)}
		requests := 0
		for i := range part {
			actions = append(actions, s.add(&part[i], b.Shard))
			requests += int(part[i].Counts.Successful + part[i].Counts.ClientErrors + part[i].Counts.ServerErrors)
		}
		failures, err := dynamo.Transact(ctx, s.client, actions)
		if err != nil {
			return done, fmt.Errorf("record a batch: %w", err)
		}
		done.Writes++
		if failures == nil {
			done.Counted += requests
		} else { // only the marker has a condition
			done.Duplicate += requests
		}
	}
	return done, nil
}

// mark writes the marker of a part of a batch, unless it exists.
func (s *Store) mark(batch string, part int, now time.Time) types.TransactWriteItem {
	sort := "-"
	if part > 0 {
		sort += strconv.Itoa(part)
	}
	expr := dynamo.Build(expression.NewBuilder().WithCondition(expression.Name("period").AttributeNotExists()))
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table,
		Item: dynamo.Marshal(marker{
			key:       key{Period: "batch#" + batch, PathDayShard: sort},
			ExpiresAt: now.AddDate(0, 0, markerDays).Unix(),
		}),
		ConditionExpression:      expr.Condition(),
		ExpressionAttributeNames: expr.Names(),
	}}
}

// add adds to the counters of a path and day. It needs no condition, because the marker has one.
func (s *Store) add(u *Usage, shard int) types.TransactWriteItem {
	day := u.Day.Format(time.DateOnly)
	counter := dynamo.Marshal(key{
		Period:       day[:len("2006-01")],
		PathDayShard: u.APIPath + "#" + day + "#" + strconv.Itoa(shard),
	})
	return dynamo.UpdateItem(s.table, counter, expression.NewBuilder().WithUpdate(expression.
		Add(expression.Name("successfulRequests"), expression.Value(u.Counts.Successful)).
		Add(expression.Name("clientErrors"), expression.Value(u.Counts.ClientErrors)).
		Add(expression.Name("serverErrors"), expression.Value(u.Counts.ServerErrors))))
}
