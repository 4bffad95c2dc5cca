package segmenttable

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// Scan reads all segments of a table, consistently, in any order.
func Scan(ctx context.Context, client *dynamodb.Client, table string) ([]Segment, error) {
	var all []Segment
	for item, err := range dynamo.Scan(ctx, client, table) {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if !IsSegment(item) {
			continue
		}
		s, err := Unmarshal(item)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		all = append(all, s)
	}
	return all, nil
}

// Read returns the segments with the ids by their ids. Ids without a segment are left out. It reads only these segments,
// consistently.
func Read(ctx context.Context, client *dynamodb.Client, table string, ids []int64) (map[int64]Segment, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = Key(id)
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return nil, err
	}
	segments := map[int64]Segment{}
	for _, item := range items {
		s, err := Unmarshal(item)
		if err != nil {
			return nil, err
		}
		segments[s.ID] = s
	}
	return segments, nil
}
