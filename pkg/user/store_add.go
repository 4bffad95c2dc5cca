package user

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// Attributes of the counter.
const (
	lastID        = "lastAccountId" // the last id that was used; it exists once the unique names of all accounts are reserved
	earlierLastID = "lastId"        // the counter of earlier versions, which did not reserve names
)

// accountID is the attribute of a reservation with the id of the account that has the name, and of a link with the id of the person.
const accountID = "accountId"

// The positions of the actions in the transaction that adds an account.
const (
	counterAction = iota
	accountAction
	nameAction
)

// Add adds an account without tokens under the next unused id; it ignores u.ID. It returns ErrEmailExists or ErrUsernameExists if another
// account has the unique name.
//
// One transaction writes the account, the reservation of its unique name, the link of its identity and the counter of ids, provided that the
// id, the name and the identity are unused. The Store remembers the counter, so a further Add is one call unless another process has added
// an account in between.
func (s *Store) Add(ctx context.Context, u User) (User, error) { return s.add(ctx, u, noAccount) }

// add is Add. The link of u.Identity replaces one to the account stale. If another link exists, the error is errLinked.
func (s *Store) add(ctx context.Context, u User, stale int64) (User, error) {
	u.PATs = map[string]int64{}
	name, exists := u.uniqueName()
	last, err := s.lastID(ctx)
	for attempt := 1; err == nil; attempt++ {
		if last >= auth.MaxID {
			return User{}, errNoIDsLeft
		}
		u.ID = last + 1
		actions := []types.TransactWriteItem{
			counterAction: {Update: dynamo.Advance(s.table, Key(counterID), lastID, last, u.ID)},
			accountAction: s.Creation(u),
		}
		if name != "" {
			actions = append(actions, s.reservation(u))
		}
		if u.Identity != nil {
			actions = append(actions, s.link(*u.Identity, u.ID, stale))
		}
		var failures []dynamo.Failure
		if failures, err = dynamo.Transact(ctx, s.client, actions); err != nil {
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		}
		if failures == nil {
			s.last.Store(u.ID)
			return u, nil
		}
		if name != "" && failures[nameAction].Failed {
			return User{}, exists
		}
		if u.Identity != nil && failures[len(actions)-1].Failed {
			return User{}, errLinked
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return User{}, fmt.Errorf("add a user: other accounts were added at the same time until the deadline: %w", err)
		}
		if failures[counterAction].Failed {
			last, err = s.readCounter(ctx, failures[counterAction].Item)
		} else { // Create has used the id
			last, err = s.Prepare(ctx)
		}
	}
	return User{}, err
}

// lastID returns the last id that was used. It reads the counter if the Store does not remember it.
func (s *Store) lastID(ctx context.Context) (int64, error) {
	if last := s.last.Load(); last != 0 {
		return last, nil
	}
	counter, err := dynamo.Get(ctx, s.client, s.table, Key(counterID))
	if err != nil {
		return 0, fmt.Errorf("read the counter of users: %w", err)
	}
	return s.readCounter(ctx, counter)
}

// readCounter returns the last id that was used according to the counter's item, and calls Prepare if that is necessary.
func (s *Store) readCounter(ctx context.Context, counter dynamo.Item) (int64, error) {
	if last, prepared := counter.IntOK(lastID); prepared {
		return last, nil
	}
	return s.Prepare(ctx)
}

// Prepare reserves the unique names of all accounts and sets the counter to the highest id that was used, which it returns. It is necessary
// after accounts were written by an earlier version or by Create, which do neither. Add calls it if the counter is missing or behind. Without
// accounts, Prepare writes nothing.
func (s *Store) Prepare(ctx context.Context) (last int64, err error) {
	reserved := map[int64]bool{}
	var accounts []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return 0, fmt.Errorf("prepare the counter of users: %w", err)
		}
		last = max(last, item.Int(hash), item.Int(lastID), item.Int(earlierLastID))
		reserved[item.Int(hash)] = true
		if isAccount(item) {
			accounts = append(accounts, FromItem(item))
		}
	}
	for _, u := range accounts {
		if name, _ := u.uniqueName(); name == "" || reserved[reservationID(u)] {
			continue
		}
		// If a condition fails, the account was deleted, or a concurrent call has reserved the name.
		_, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{s.reservation(u), {ConditionCheck: &types.ConditionCheck{
			TableName: &s.table, Key: Key(u.ID), ConditionExpression: aws.String("attribute_exists(#kind)"),
			ExpressionAttributeNames: map[string]string{"#kind": attributeKind},
		}}})
		if err != nil {
			return 0, fmt.Errorf("reserve the name of user %d: %w", u.ID, err)
		}
	}
	if last == 0 {
		return 0, nil
	}
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(counterID),
		ConditionExpression:       aws.String("attribute_not_exists(#last) OR #last < :last"),
		UpdateExpression:          aws.String("SET #last = :last"),
		ExpressionAttributeNames:  map[string]string{"#last": lastID},
		ExpressionAttributeValues: dynamo.Item{":last": dynamo.N(last)},
	})
	if err != nil && !dynamo.FailedCondition(err) { // otherwise accounts were added in the meantime
		return 0, fmt.Errorf("prepare the counter of users: %w", err)
	}
	return last, nil
}

// reservation returns the action that reserves an account's unique name. It fails if the name is reserved.
func (s *Store) reservation(u User) types.TransactWriteItem {
	item := Key(reservationID(u))
	item[accountID] = dynamo.N(u.ID)
	return dynamo.NewItem(s.table, hash, item)
}

// reservationID returns the id of the item that reserves an account's unique name.
func reservationID(u User) int64 {
	name, _ := u.uniqueName()
	return negativeID(string(u.Kind) + ":" + fold(name))
}

// negativeID returns the id of an item that is no account: a negative number from the first 63 bits of the SHA-256 of a text.
func negativeID(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return -1 - int64(binary.BigEndian.Uint64(sum[:8])>>1)
}
