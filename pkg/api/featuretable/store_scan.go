package featuretable

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/platform/dynamo"
)

// scanParallelism is the number of parts in which the table is read at the same time.
const scanParallelism = 4

// Scan reads the selected toggles of a table, consistently, in any order. If attributes are named, the rows have only
// these.
func Scan(
	ctx context.Context, client *dynamodb.Client, table string, selects func(Row) bool, attributes ...string,
) ([]Row, error) {
	parts := make([][]Row, scanParallelism)
	var all errgroup.Group
	for segment := range int32(scanParallelism) {
		all.Go(func() error {
			for item, err := range dynamo.ScanSegment(ctx, client, table, segment, scanParallelism, attributes...) {
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

// Count returns the number of toggles in a table, with a parallel Scan that is eventually consistent.
func Count(ctx context.Context, client *dynamodb.Client, table string) (int64, error) {
	var number atomic.Int64
	var all errgroup.Group
	for segment := range int32(scanParallelism) {
		all.Go(func() error {
			n, err := countSegment(ctx, client, table, segment)
			number.Add(n)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return 0, fmt.Errorf("count toggles: %w", err)
	}
	return number.Load(), nil
}

func countSegment(ctx context.Context, client *dynamodb.Client, table string, segment int32) (number int64, err error) {
	input := &dynamodb.ScanInput{
		TableName:     &table,
		Select:        types.SelectCount,
		Segment:       &segment,
		TotalSegments: aws.Int32(scanParallelism),
	}
	for {
		out, err := client.Scan(ctx, input)
		if err != nil {
			return 0, err
		}
		number += int64(out.Count)
		if out.LastEvaluatedKey == nil {
			return number, nil
		}
		input.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Read reads the toggles with the names that exist, in any order.
func Read(ctx context.Context, client *dynamodb.Client, table string, names []string) ([]Row, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = Key(name)
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return nil, err
	}
	all := make([]Row, len(items))
	for i, item := range items {
		all[i] = UnmarshalRow(item)
	}
	return all, nil
}
