package feature

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// DefaultLimit is the template's default of MaxFeatures.
const DefaultLimit = 20_000

// SetLimit sets the maximum number of toggles, including archived ones; 0: no limit. CheckLimit reads it. It must not be
// called concurrently with other methods.
func (s *Store) SetLimit(most int64) { s.limit = most }

// Limit returns the maximum number of toggles, or 0.
func (s *Store) Limit() int64 { return s.limit }

// CheckLimit returns an error of the kind NoAccess if the limit of toggles is reached. It counts them with a parallel Scan, which is
// eventually consistent. So there is no counter that each creation and deletion has to change, and creations at the same
// time can exceed the limit by their number.
func (s *Store) CheckLimit(ctx context.Context) error {
	if s.limit == 0 {
		return nil
	}
	var number atomic.Int64
	_, err := parallel(segments, func(i int, _ func(toggle.Feature)) error {
		input := &dynamodb.ScanInput{
			TableName: &s.features, Select: types.SelectCount,
			Segment: aws.Int32(int32(i)), TotalSegments: aws.Int32(segments), //nolint:gosec // below segments
		}
		for {
			out, err := s.client.Scan(ctx, input)
			if err != nil {
				return fmt.Errorf("count toggles: %w", err)
			}
			number.Add(int64(out.Count))
			if input.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
				return nil
			}
		}
	})
	if err == nil && number.Load() >= s.limit {
		return apierror.Errorf(apierror.NoAccess,
			"The maximum number of toggles (%d), including archived ones, is reached. Delete one first.", s.limit)
	}
	return err
}
