package pat

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// perTransaction is the number of tokens that one transaction of DeleteOwner deletes.
const perTransaction = 25

// DeleteOwner deletes an account of the kind, its tokens and its identifiers, or returns user.ErrNotFound. After the first call to DynamoDB
// the account and its tokens are unusable. It is one UpdateItem and at least one transaction, each with up to 25 tokens; the last one deletes
// the account too. After an error or a crash, a repeated DeleteOwner ends the deletion.
func (s *Store) DeleteOwner(ctx context.Context, kind user.Kind, id int64) error {
	u, err := s.accounts.BeginDeletion(ctx, kind, id)
	if err != nil {
		return err
	}
	var deletions []types.TransactWriteItem
	for _, token := range slices.Sorted(maps.Values(u.PATs)) { // all of them: from now on no token is added
		if len(deletions) == perTransaction {
			if _, err := dynamo.Transact(ctx, s.client, deletions); err != nil {
				return fmt.Errorf("delete the tokens of user %d: %w", id, err)
			}
			deletions = nil
		}
		// Without a condition: the token may be deleted already, and its id is never used again.
		deletions = append(deletions, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.pats, Key: Key(id, token)}})
	}
	return s.accounts.EndDeletion(ctx, u, deletions)
}
