package traffic

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
)

// Store keeps the counters in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ Reporter = (*Store)(nil)

// NewStore makes a store on the table Traffic.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.Traffic}
}

// Report implements Reporter: one Query per MB, consistent.
func (s *Store) Report(ctx context.Context, period string) ([]Usage, error) {
	type place struct {
		path string
		day  time.Time
	}
	sums := map[place]Counts{}
	for item, err := range dynamo.Query(ctx, s.client, s.table, "period", period) {
		if err != nil {
			return nil, fmt.Errorf("report the traffic of %s: %w", period, err)
		}
		path, day, err := splitKey(item.String("pathDayShard"))
		if err != nil {
			return nil, fmt.Errorf("report the traffic of %s: %w", period, err)
		}
		sum := sums[place{path, day}]
		sum.Successful += item.Int("successfulRequests")
		sum.ClientErrors += item.Int("clientErrors")
		sum.ServerErrors += item.Int("serverErrors")
		sums[place{path, day}] = sum
	}
	all := make([]Usage, 0, len(sums))
	for at := range maps.Keys(sums) {
		all = append(all, Usage{APIPath: at.path, Day: at.day, Counts: sums[at]})
	}
	slices.SortFunc(all, byPathAndDay)
	return all, nil
}

// splitKey reads <apiPath>#<day>#<shard>.
func splitKey(key string) (path string, day time.Time, err error) {
	rest, _, ok := cutLast(key, "#")
	path, text, found := cutLast(rest, "#")
	if !ok || !found {
		return "", time.Time{}, fmt.Errorf("the key %q is not <apiPath>#<day>#<shard>", key)
	}
	if day, err = time.Parse(time.DateOnly, text); err != nil {
		return "", time.Time{}, fmt.Errorf("the key %q names no day: %w", key, err)
	}
	return path, day, nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
