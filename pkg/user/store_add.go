package user

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/dynamo"
)

const (
	counterID = 0        // the item that counts ids, which are 1 and more
	lastID    = "lastId" // its attribute: the last id that was given
)

// List reads all accounts, ordered by id: one Scan per MB, consistent.
func (s *Store) List(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		if item.Int(hash) != counterID {
			all = append(all, Of(item))
		}
	}
	slices.SortFunc(all, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Add adds an account under the next id, which was never given before, without tokens; u.ID is not read. It gives ErrEmailExists or
// ErrNameExists where a person or service account of that kind has the address or name already.
//
// Adding is rare and by hand, so it reads all accounts. The step of the counter, on the condition that it still stands where it stood before
// they were read, goes with the account in one transaction: whoever adds at the same time loses the race and reads again, so no id and
// no address is given twice. (Repetitions of one transaction carry the SDK's idempotency token, so a lost answer loses no race.)
func (s *Store) Add(ctx context.Context, u User) (User, error) {
	u.PATs = map[string]int64{}
	for attempt := 1; ; attempt++ {
		counter, err := dynamo.Get(ctx, s.client, s.table, Key(counterID))
		if err != nil {
			return User{}, fmt.Errorf("read the counter of users: %w", err)
		}
		all, err := s.List(ctx)
		if err != nil {
			return User{}, err
		}
		last := counter.Int(lastID)
		if u.ID, err = u.Next(last, all); err != nil {
			return User{}, err
		}
		failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{{Update: s.step(last, u.ID)}, s.Creation(u)})
		switch {
		case err != nil:
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		case failures == nil:
			return u, nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return User{}, apierror.NewUnavailable(fmt.Errorf("add a user: lost every race for an id: %w", err))
		}
	}
}

// step takes the counter from last to next, on the condition that it stands there; 0 is where it was never written.
func (s *Store) step(last, next int64) *types.Update {
	step := &types.Update{
		TableName: &s.table, Key: Key(counterID),
		ConditionExpression:       aws.String("#lastId = :last"),
		UpdateExpression:          aws.String("SET #lastId = :next"),
		ExpressionAttributeNames:  map[string]string{"#lastId": lastID},
		ExpressionAttributeValues: dynamo.Item{":last": dynamo.N(last), ":next": dynamo.N(next)},
	}
	if last == 0 {
		step.ConditionExpression = aws.String("attribute_not_exists(#lastId)")
		delete(step.ExpressionAttributeValues, ":last")
	}
	return step
}
