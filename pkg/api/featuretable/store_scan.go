package featuretable

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/platform/dynamo"
)

// Segments is the number of parts in which the table is read at the same time.
const Segments = 4

// Scan reads the selected toggles of a table, consistently, in any order. If attributes are named, the rows have only
// these.
func Scan(
	ctx context.Context, client *dynamodb.Client, table string, selects func(Row) bool, attributes ...string,
) ([]Row, error) {
	parts := make([][]Row, Segments)
	var all errgroup.Group
	for segment := range int32(Segments) {
		all.Go(func() error {
			for item, err := range dynamo.ScanSegment(ctx, client, table, segment, Segments, attributes...) {
				if err != nil {
					return fmt.Errorf("list toggles: %w", err)
				}
				if row := UnmarshalRow(item); selects(row) {
					parts[segment] = append(parts[segment], row)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}
