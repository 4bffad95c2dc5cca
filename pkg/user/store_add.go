package user

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// lastID is the attribute of the counter: the last id that was taken for an account.
const lastID = "lastAccountId"

// accountID is the attribute of a reservation with the id of the account that has the name, and of a link with the id of the person.
const accountID = "accountId"

// The positions of the actions in the transaction that adds an account.
const (
	accountAction = iota
	nameAction
)

// Add adds an account without tokens under the next id; it ignores u.ID. It returns ErrEmailExists or ErrUsernameExists if another account
// has the unique name, and ErrNoIDsLeft if the last id is auth.MaxID.
//
// Add is one UpdateItem of the counter of ids, and one transaction without the counter. The transaction writes the account, the reservation of
// its unique name and the link of its identity, provided that the name and the identity are unused.
func (s *Store) Add(ctx context.Context, u User) (User, error) { return s.add(ctx, u, noAccount) }

// add is Add. The link of u.Identity replaces one to the account stale. If another link exists, the error is errLinked.
func (s *Store) add(ctx context.Context, u User, stale int64) (User, error) {
	u.PATs = map[string]int64{}
	for {
		counter, err := s.client.UpdateItem(ctx, dynamo.Count(s.table, Key(counterID), lastID, auth.MaxID))
		if dynamo.FailedCondition(err) {
			return User{}, ErrNoIDsLeft
		}
		if err != nil {
			return User{}, fmt.Errorf("take an id for a user: %w", err)
		}
		u.ID = dynamo.Item(counter.Attributes).Int(lastID)
		actions := s.writing(u)
		if u.Identity != nil {
			actions = append(actions, s.link(*u.Identity, u.ID, stale))
		}
		failures, err := dynamo.Transact(ctx, s.client, actions)
		if err != nil {
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		}
		// If the account exists, an earlier attempt was written whose response was lost and which DynamoDB no longer remembers.
		if failures == nil || failures[accountAction].Failed && reflect.DeepEqual(FromItem(failures[accountAction].Item), u) {
			return u, nil
		}
		if name, exists := u.uniqueName(); name != "" && failures[nameAction].Failed {
			return User{}, exists
		}
		if u.Identity != nil && failures[len(actions)-1].Failed {
			return User{}, errLinked
		}
		// The counter is behind, because only one table was restored: another account has the id.
	}
}

// writing returns the actions that write an account and the reservation of its unique name. They fail if the id or the name is taken.
func (s *Store) writing(u User) []types.TransactWriteItem {
	actions := []types.TransactWriteItem{accountAction: dynamo.NewItem(s.table, hash, toItem(u))}
	if name, _ := u.uniqueName(); name != "" {
		actions = append(actions, s.reservation(u))
	}
	return actions
}

// Creation returns the actions of a transaction that add an account without tokens under the id u.ID, for accounts with agreed ids. They
// fail if the id or the unique name is taken. Before, Creation raises the counter of ids to u.ID if it is lower, so that Add never takes the
// id, not even after the account was deleted.
func (s *Store) Creation(ctx context.Context, u User) ([]types.TransactWriteItem, error) {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(counterID),
		ConditionExpression:       aws.String("attribute_not_exists(#last) OR #last < :id"),
		UpdateExpression:          aws.String("SET #last = :id"),
		ExpressionAttributeNames:  map[string]string{"#last": lastID},
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.N(u.ID)},
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return nil, fmt.Errorf("raise the counter of users to %d: %w", u.ID, err)
	}
	return s.writing(u), nil
}

// Create adds an account as Creation describes. If the id or the unique name is taken, Create adds nothing.
func (s *Store) Create(ctx context.Context, u User) error {
	actions, err := s.Creation(ctx, u)
	if err != nil {
		return err
	}
	if _, err := dynamo.Transact(ctx, s.client, actions); err != nil {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
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
