package user

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// lastID is the attribute of the counter: the last id that was taken for an account.
const lastID = "lastAccountId"

// accountID is the attribute of an identifier with the id of its account.
const accountID = "accountId"

// The positions of the actions in the transaction that adds an account.
const (
	accountAction = iota
	nameAction
)

// DefaultLimit is the template's default of MaxServiceAccounts. With 10 tokens each, 200 accounts are up to 4.75 MB in
// the list of service accounts. Lambda's limit of a response is 6 MB.
const DefaultLimit = 200

// serviceAccounts is the attribute with the number of service accounts, including those whose deletion has not ended.
const serviceAccounts = "serviceAccounts"

// SetLimit sets the maximum number of service accounts. It must not be called concurrently with other methods.
func (s *Store) SetLimit(most int64) { s.limit = most }

// Limit returns the maximum number of service accounts.
func (s *Store) Limit() int64 { return s.limit }

// countAccount returns the action that adds to the number of service accounts. It fails if n is positive and the limit
// is reached.
func (s *Store) countAccount(n int64) types.TransactWriteItem {
	update := &types.Update{
		TableName: &s.table, Key: Key(numberID), UpdateExpression: aws.String("ADD #number :n"),
		ExpressionAttributeNames:  map[string]string{"#number": serviceAccounts},
		ExpressionAttributeValues: dynamo.Item{":n": dynamo.N(n)},
	}
	if n > 0 {
		update.ConditionExpression = aws.String("attribute_not_exists(#number) OR #number < :limit")
		update.ExpressionAttributeValues[":limit"] = dynamo.N(s.limit)
	}
	return types.TransactWriteItem{Update: update}
}

// Add adds an account without tokens under the next id; it ignores u.ID. The kind of its error is, in this order,
// NoAccess if the last id is access.MaxID or the limit of service accounts is reached, and NameExists if another account
// has the unique name or is linked to the identity.
//
// Add is one UpdateItem of the counter of ids, and one transaction without the counter. The transaction writes the
// account, the reservation of its unique name and the link of its identity, provided that the name and the identity are
// unused.
func (s *Store) Add(ctx context.Context, u User) (User, error) { return s.add(ctx, u, nil, false) }

// add is Add. The link of u.Identity replaces a stale one. If the person signs up, they are the actor of the event.
func (s *Store) add(ctx context.Context, u User, stale dynamo.Item, signUp bool) (User, error) {
	u.PATs = map[string]int64{}
	for {
		counter, err := s.client.UpdateItem(ctx, dynamo.Count(s.table, Key(counterID), lastID, access.MaxID))
		if dynamo.FailedCondition(err) {
			return User{}, apierror.Errorf(apierror.NoAccess, "All ids of accounts, up to %d, are used up.", access.MaxID)
		}
		if err != nil {
			return User{}, fmt.Errorf("take an id for a user: %w", err)
		}
		u.ID = dynamo.Item(counter.Attributes).Int(lastID)
		var actions []types.TransactWriteItem
		var link int // the position of the link
		failures, err := s.log.Transact(ctx, func() (_ []types.TransactWriteItem, err error) {
			by := ctx
			if signUp {
				by = eventlog.WithActor(ctx, u.Actor())
			}
			actions, err = s.writing(by, &u)
			if u.Identity != nil {
				link, actions = len(actions), append(actions, s.link(*u.Identity, u.ID, u.LastEvent, stale))
			}
			return actions, err
		})
		if err != nil {
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		}
		if failures == nil {
			return u, nil
		}
		if i := slices.IndexFunc(actions, func(a types.TransactWriteItem) bool { return a.Update != nil }); i >= 0 &&
			failures[i].Failed {
			return User{}, apierror.Errorf(apierror.NoAccess,
				"The maximum number of service accounts (%d) is reached. Delete one first.", s.limit)
		}
		if u.uniqueName() != "" && failures[nameAction].Failed {
			return User{}, u.nameExists()
		}
		if u.Identity != nil && failures[link].Failed {
			return User{}, identityExists()
		}
		// The counter is too low, because only one table was restored: another account has the id.
	}
}

// writing returns the actions that write and record an account and the reservation of its unique name, and count a
// service account. It sets the account's last event. The actions fail if the id or the name is taken, or if the limit
// of service accounts is reached. The only update changes the number of service accounts.
func (s *Store) writing(ctx context.Context, u *User) ([]types.TransactWriteItem, error) {
	u.LastEvent = 0
	id, record, err := s.log.RecordActions(ctx, u.creation())
	if err != nil {
		return nil, err
	}
	u.LastEvent = id
	actions := []types.TransactWriteItem{accountAction: dynamo.NewItem(s.table, hash, toItem(*u))}
	if name := u.uniqueName(); name != "" {
		actions = append(actions, dynamo.NewItem(s.identifiers, hash, identifier(name, u.ID)))
	}
	if u.Kind == ServiceAccount {
		actions = append(actions, s.countAccount(1))
	}
	return append(actions, record...), nil
}

// CreateActions returns the actions of a transaction that adds an account without tokens under the id u.ID, which
// ReserveID has reserved. They fail if the id or the unique name is taken. The kind of its error is NameExists if the unique name is
// taken already, and Conflict if the account with the id is being deleted.
func (s *Store) CreateActions(ctx context.Context, u User) ([]types.TransactWriteItem, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(u.ID))
	if err != nil {
		return nil, fmt.Errorf("get user %d: %w", u.ID, err)
	}
	if item[attributeDeleting] != nil {
		return nil, apierror.Errorf(apierror.Conflict, "The deletion of the account with the id %d has not ended.", u.ID)
	}
	if name := u.uniqueName(); name != "" {
		reservation, err := dynamo.Get(ctx, s.client, s.identifiers, IdentifierKey(name))
		if err != nil {
			return nil, fmt.Errorf("read whether the name of user %d is taken: %w", u.ID, err)
		}
		if reservation != nil {
			return nil, u.nameExists()
		}
	}
	return s.writing(ctx, &u)
}

// ReserveID raises the counter of ids to id if it is lower, so that Add never takes the id, even after an account with
// it was deleted.
func (s *Store) ReserveID(ctx context.Context, id int64) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: Key(counterID),
		ConditionExpression:       aws.String("attribute_not_exists(#last) OR #last < :id"),
		UpdateExpression:          aws.String("SET #last = :id"),
		ExpressionAttributeNames:  map[string]string{"#last": lastID},
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.N(id)},
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("raise the counter of users to %d: %w", id, err)
	}
	return nil
}

// Create reserves the id u.ID and adds an account without tokens under it. If the id or the unique name is taken, it adds
// nothing.
func (s *Store) Create(ctx context.Context, u User) error {
	if err := s.ReserveID(ctx, u.ID); err != nil {
		return err
	}
	if _, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) { return s.writing(ctx, &u) }); err != nil {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
}

// uniqueName returns the identifier that no other account may have, or "" if the account has none.
func (u User) uniqueName() string {
	if u.Kind == Person && u.Email != "" {
		return emailIdentifier(u.Email)
	}
	if u.Kind == ServiceAccount && u.Username != "" {
		return "username:" + spelling.Fold(u.Username)
	}
	return ""
}

// identifiers returns the keys of what the table Identifiers contains about the account.
func (u User) identifiers() (names []string) {
	if name := u.uniqueName(); name != "" {
		names = append(names, name)
	}
	if u.Identity != nil {
		names = append(names, linkName(*u.Identity))
	}
	return names
}

// emailIdentifier returns the identifier of an e-mail address.
func emailIdentifier(email string) string { return "email:" + strings.ToLower(email) }

// nameExists returns the error if another account has the unique name.
func (u User) nameExists() error {
	if u.Kind == Person {
		return apierror.New(apierror.NameExists, "There is already a person with this e-mail address.")
	}
	return apierror.New(apierror.NameExists, "There is already a service account with this username.")
}

// IdentifierKey returns the key of an item in the table Identifiers.
func IdentifierKey(identifier string) dynamo.Item { return dynamo.Item{hash: dynamo.S(identifier)} }

// identifier returns the item that assigns an identifier to an account.
func identifier(name string, id int64) dynamo.Item {
	item := IdentifierKey(name)
	item[accountID] = dynamo.N(id)
	return item
}

// release returns the action that deletes an identifier of an account. It fails if the identifier is another account's.
func (s *Store) release(name string, id int64) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.identifiers, Key: IdentifierKey(name),
		ConditionExpression:       aws.String("attribute_not_exists(#account) OR #account = :id"),
		ExpressionAttributeNames:  map[string]string{"#account": accountID},
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.N(id)},
	}}
}
