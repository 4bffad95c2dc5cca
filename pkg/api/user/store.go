package user

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// AttributePATs is the attribute with the map of an account's tokens.
const AttributePATs = "pats"

const attributeKind = "kind"

const (
	hash      = "id" // the table's partition key
	counterID = 0    // the id of the item that counts ids
	numberID  = -1   // the id of the item with the number of service accounts
)

// The logical ids of the tables.
const (
	Table            = "Users"
	IdentifiersTable = "Identifiers"
)

// Store keeps the accounts in the table Users, and in the table Identifiers what only one account can have: e-mail
// addresses, usernames and identities. It is safe for concurrent use.
//
// Items of Users without the attribute kind are no accounts: the counter of ids, the number of service accounts, and
// accounts whose deletion has begun (store_delete.go).
type Store struct {
	client      *dynamodb.Client
	table       string
	identifiers string
	log         *eventlog.Log
	limit       int64 // of the number of service accounts
	linked      links // identities that SignIn has found
}

// NewStore returns a Store that uses the tables Users and Identifiers, and records its changes in log. Only methods
// that add, delete or link accounts use the second table. log can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:      client,
		table:       tables[Table],
		identifiers: tables[IdentifiersTable],
		log:         log,
		limit:       DefaultLimit,
	}
}

// Key returns the key of an account's item.
func Key(id int64) dynamo.Item { return dynamo.Item{hash: dynamo.N(id)} }

// Get returns an account. The kind of its error is NotFound if there is none with the id.
func (s *Store) Get(ctx context.Context, id int64) (User, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return User{}, fmt.Errorf("get user %d: %w", id, err)
	}
	if !isAccount(item) {
		return User{}, notFound(anyKind, id)
	}
	return FromItem(item), nil
}

// Find returns an account of the kind. The kind of its error is NotFound if there is none with the id.
func (s *Store) Find(ctx context.Context, kind Kind, id int64) (User, error) {
	u, err := s.Get(ctx, id)
	if apierror.KindOf(err) == apierror.NotFound || err == nil && u.Kind != kind {
		return User{}, notFound(kind, id)
	}
	return u, err
}

// List returns all accounts, ordered by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]User, error) {
	var all []User
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		if isAccount(item) {
			all = append(all, FromItem(item))
		}
	}
	slices.SortFunc(all, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// isAccount reports whether an item is an account that is not being deleted.
func isAccount(item dynamo.Item) bool { return item[attributeKind] != nil }

// SetDisabled disables or enables an account. The account's tokens are rejected or accepted from then on. The kind of
// its error is NotFound if there is none with the id.
func (s *Store) SetDisabled(ctx context.Context, id int64, disabled bool) error {
	_, err := s.modify(ctx, id, func(u *User) { u.Disabled = disabled })
	return err
}

// SetRole changes the root role of an account. The role applies from the next request on. The kind of its error is
// NotFound if there is none with the id.
func (s *Store) SetRole(ctx context.Context, id int64, role access.Role) error {
	_, err := s.modify(ctx, id, func(u *User) { u.Role = role })
	return err
}

// Restrict sets the role and the state of an account as it was read. It does nothing if the account has changed since
// then, or does not exist.
func (s *Store) Restrict(ctx context.Context, read User, role access.Role, disabled bool) error {
	_, err := s.modify(ctx, read.ID, func(u *User) {
		if u.LastEvent == read.LastEvent {
			u.Role, u.Disabled = role, disabled
		}
	})
	if apierror.KindOf(err) == apierror.NotFound {
		return nil
	}
	return err
}

// Change contains the new values of a service account's members. Zero values leave a member unchanged.
type Change struct {
	Name string
	Role access.Role
}

// Update changes a service account and returns it. The kind of its error is NotFound if there is none with the id.
func (s *Store) Update(ctx context.Context, id int64, change Change) (User, error) {
	u, err := s.modify(ctx, id, func(u *User) {
		if u.Kind == ServiceAccount {
			u.Name, u.Role = cmp.Or(change.Name, u.Name), cmp.Or(change.Role, u.Role)
		}
	})
	if err == nil && u.Kind != ServiceAccount {
		return User{}, notFound(ServiceAccount, id)
	}
	return u, err
}

// modify changes the name, the role and the state of an account, and returns it. It is one consistent read and one
// transaction, repeated if the account is changed concurrently. If nothing changes, it is the read alone. The kind of
// its error is NotFound if there is no account with the id.
func (s *Store) modify(ctx context.Context, id int64, change func(*User)) (next User, err error) {
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		next = old
		change(&next)
		if err != nil || reflect.DeepEqual(old, next) {
			return nil, err
		}
		var record []types.TransactWriteItem
		next.LastEvent, record, err = s.log.RecordActions(ctx, old.changeTo(next))
		names := map[string]string{"#kind": attributeKind, "#name": "name", "#role": "rootRole", "#disabled": "disabled"}
		values := dynamo.Item{
			":kind": dynamo.S(string(old.Kind)), ":name": dynamo.S(next.Name), ":role": dynamo.S(string(next.Role)),
			":disabled": dynamo.Bool(next.Disabled),
		}
		condition, assignment := eventlog.Guard(old.LastEvent, next.LastEvent, names, values)
		return append([]types.TransactWriteItem{{Update: &types.Update{
			TableName: &s.table, Key: Key(id), ConditionExpression: aws.String("#kind = :kind AND " + condition),
			UpdateExpression:         aws.String("SET #name = :name, #role = :role, #disabled = :disabled, " + assignment),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}}, record...), err
	}, nil)
	if err != nil {
		return User{}, fmt.Errorf("change user %d: %w", id, err)
	}
	return next, nil
}

func toItem(u User) dynamo.Item {
	item := Key(u.ID)
	item[attributeKind], item["name"], item["rootRole"] = dynamo.S(string(u.Kind)), dynamo.S(u.Name),
		dynamo.S(string(u.Role))
	item["disabled"], item[AttributePATs] = dynamo.Bool(u.Disabled), dynamo.M(dynamo.Item{})
	if u.Username != "" {
		item["username"] = dynamo.S(u.Username)
	}
	if u.Email != "" {
		item["email"] = dynamo.S(u.Email)
	}
	if u.Identity != nil {
		item[attributeIdentity] = identityValue(*u.Identity)
	}
	if u.CreatedAt != nil {
		item["createdAt"] = dynamo.Time(*u.CreatedAt)
	}
	if u.LastEvent != 0 {
		item[eventlog.AttributeEvent] = dynamo.N(u.LastEvent)
	}
	return item
}

// FromItem returns the account that an item contains.
func FromItem(item dynamo.Item) User {
	u := User{
		ID: item.Int(hash), Kind: Kind(item.String(attributeKind)), Name: item.String("name"),
		Username: item.String("username"),
		Email:    item.String("email"), Role: access.Role(item.String("rootRole")), Disabled: item.Bool("disabled"),
		PATs:      map[string]int64{},
		CreatedAt: item.Time("createdAt"), LastEvent: item.Int(eventlog.AttributeEvent),
	}
	if identity := item.Map(attributeIdentity); identity != nil {
		u.Identity = &Identity{Issuer: identity.String("issuer"), Subject: identity.String("subject")}
	}
	pats := item.Map(AttributePATs)
	for key := range pats {
		u.PATs[key] = pats.Int(key)
	}
	return u
}
