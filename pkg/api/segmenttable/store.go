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
