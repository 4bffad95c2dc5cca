package feature

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/dynamo"
)

// Delete deletes a toggle for good, and takes back what it counted for, in one transaction; or it gives ErrNotFound. It is repeated when
// another write came between.
func (s *Store) Delete(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		old, err := s.Get(ctx, name)
		if err != nil {
			return err
		}
		condition, names, values := unchanged(old)
		deletion := types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.features, Key: key(name),
			ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}
		gone := old
		gone.ContextFields = nil
		failures, err := dynamo.Transact(ctx, s.client, append([]types.TransactWriteItem{deletion}, s.usage(old, gone)...))
		switch {
		case err != nil:
			return fmt.Errorf("delete toggle %q: %w", name, err)
		case failures == nil:
			return nil
		case !failures[0].Failed: // a context field was deleted, which nothing here does
			return ErrUnknownContextField
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return apierror.NewUnavailable(fmt.Errorf("delete toggle %q: lost every race: %w", name, err))
		}
	}
}
