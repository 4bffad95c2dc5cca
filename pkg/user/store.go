package user

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
)

// AttributePATs is the attribute with the map of an account's tokens.
const AttributePATs = "pats"

const (
	hash      = "id"     // the table's partition key
	counterID = 0        // the id of the item that counts ids
	lastID    = "lastId" // the counter's attribute: the last id that Add used
)

// Store keeps the accounts in the table Users. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
}

// NewStore returns a Store that uses tables.Users.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.Users}
}

// Key returns the key of an account's item.
func Key(id int64) dynamo.Item { return dynamo.Item{hash: dynamo.N(id)} }

// Get returns an account, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (User, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return User{}, fmt.Errorf("get user %d: %w", id, err)
	}
	if item == nil || id == counterID {
		return User{}, ErrNotFound
	}
	return FromItem(item), nil
}

// List returns all accounts, ordered by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		if u := FromItem(item); u.ID != counterID {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Create adds an account without tokens under the id u.ID, for accounts with agreed ids. If the id is taken, Create changes nothing.
func (s *Store) Create(ctx context.Context, u User) error {
	if err := dynamo.PutNew(ctx, s.client, s.table, hash, toItem(u)); err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
}

// Creation returns the action of a transaction that adds an account without tokens. It fails if the id is taken.
func (s *Store) Creation(u User) types.TransactWriteItem {
	return dynamo.NewItem(s.table, hash, toItem(u))
}

// Add adds an account without tokens under the next unused id; it ignores u.ID. It returns ErrEmailExists or ErrNameExists if the account
// conflicts with another one.
//
// Accounts are rarely added, so Add reads all of them. One transaction writes the account and increments the counter of ids, provided
// that the counter has not changed since before the accounts were read. So concurrent calls never use an id or an address twice: a
// call whose condition fails reads the accounts again.
func (s *Store) Add(ctx context.Context, u User) (User, error) {
	u.PATs = map[string]int64{}
	for attempt := 1; ; attempt++ {
		counter, err := dynamo.Get(ctx, s.client, s.table, Key(counterID))
		if err != nil {
			return User{}, fmt.Errorf("read the counter of users: %w", err)
		}
		last := counter.Int(lastID)
		if u.ID, err = s.nextID(ctx, u, last); err != nil {
			return User{}, err
		}
		failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{
			{Update: dynamo.Advance(s.table, Key(counterID), lastID, last, u.ID)},
			s.Creation(u),
		})
		if err != nil {
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		}
		if failures == nil {
			return u, nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return User{}, fmt.Errorf("add a user: other accounts were added at the same time until the deadline: %w", err)
		}
	}
}

// nextID returns the id for the new account u: one more than the highest id that the counter or an account has. It returns an error
// if u conflicts with an account.
func (s *Store) nextID(ctx context.Context, u User, last int64) (int64, error) {
	all, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, other := range all {
		if err := u.conflict(other); err != nil {
			return 0, err
		}
		last = max(last, other.ID)
	}
	if last >= auth.MaxID {
		return 0, errNoIDsLeft
	}
	return last + 1, nil
}

// SetDisabled disables or enables an account, or returns ErrNotFound. The account's tokens are rejected or accepted from then on.
func (s *Store) SetDisabled(ctx context.Context, id int64, disabled bool) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(id),
		ConditionExpression:       aws.String("attribute_exists(#kind)"), // the counter has none
		UpdateExpression:          aws.String("SET #disabled = :disabled"),
		ExpressionAttributeNames:  map[string]string{"#kind": "kind", "#disabled": "disabled"},
		ExpressionAttributeValues: dynamo.Item{":disabled": dynamo.Bool(disabled)},
	})
	if dynamo.FailedCondition(err) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("set user %d disabled: %w", id, err)
	}
	return nil
}

func toItem(u User) dynamo.Item {
	item := Key(u.ID)
	item["kind"], item["name"], item["rootRole"] = dynamo.S(string(u.Kind)), dynamo.S(u.Name), dynamo.S(string(u.Role))
	item["disabled"], item[AttributePATs] = dynamo.Bool(u.Disabled), dynamo.M(dynamo.Item{})
	if u.Email != "" {
		item["email"] = dynamo.S(u.Email)
	}
	return item
}

// FromItem returns the account that an item contains.
func FromItem(item dynamo.Item) User {
	u := User{
		ID: item.Int(hash), Kind: Kind(item.String("kind")), Name: item.String("name"), Email: item.String("email"),
		Role: auth.Role(item.String("rootRole")), Disabled: item.Bool("disabled"), PATs: map[string]int64{},
	}
	pats := item.Map(AttributePATs)
	for key := range pats {
		u.PATs[key] = pats.Int(key)
	}
	return u
}
