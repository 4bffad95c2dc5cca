package user

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// AttributePATs is the attribute with the map of an account's tokens.
const AttributePATs = "pats"

const (
	attributeKind     = "kind"
	attributeDeleting = "deleting" // replaces kind when the deletion of the account begins
	attributeDisabled = "disabled"
	attributeIdentity = "identity"
)

const (
	hash      = "id" // the partition key of both tables
	counterID = 0    // the id of the item that counts ids
	numberID  = -1   // the id of the item with the numbers of people and of service accounts
)

// The logical ids of the tables.
const (
	Table            = "Users"
	IdentifiersTable = "Identifiers"
)

// Store keeps the accounts in the table Users, and in the table Identifiers what only one account can have: e-mail
// addresses, usernames and identities. It is safe for concurrent use.
//
// Items of Users without the attribute kind are no accounts: the counter of ids, the numbers of accounts, and
// accounts whose deletion has begun (store_delete.go).
type Store struct {
	client      *dynamodb.Client
	table       string
	identifiers string
	access      *accesstable.Reader
	accessTable string
	log         *eventlog.Log
	linked      links // identities that SignIn has found
}

// NewStore returns a Store that uses the tables Users, Identifiers and Access, and records its changes in log. Only
// methods that add, delete or link accounts or change e-mail addresses use the second table, and only those that give a
// custom root role the third. log can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:      client,
		table:       tables[Table],
		identifiers: tables[IdentifiersTable],
		access:      accesstable.NewReader(client, tables),
		accessTable: tables[accesstable.Table],
		log:         log,
	}
}

// key is the key of an item of the table Users.
type key struct {
	ID int64 `dynamodbav:"id"`
}

// record is the item of an account.
type record struct {
	key
	Kind      Kind             `dynamodbav:"kind,omitempty"`
	Deleting  Kind             `dynamodbav:"deleting,omitempty"`
	Name      string           `dynamodbav:"name"`
	Username  string           `dynamodbav:"username,omitempty"`
	Email     string           `dynamodbav:"email,omitempty"`
	Role      access.Role      `dynamodbav:"rootRole"`
	Disabled  bool             `dynamodbav:"disabled"`
	PATs      map[string]int64 `dynamodbav:"pats"`
	Identity  *identityRecord  `dynamodbav:"identity,omitempty"`
	Groups    []int64          `dynamodbav:"groups,numberset,omitempty"`
	Claim     *claimRecord     `dynamodbav:"claim,omitempty"`
	CreatedAt *time.Time       `dynamodbav:"createdAt,omitempty"`
	LastEvent int64            `dynamodbav:"event,omitempty"`
}

// identityRecord is an identity in the item of a person.
type identityRecord struct {
	Issuer  string `dynamodbav:"issuer"`
	Subject string `dynamodbav:"subject"`
}

// claimRecord is a Claim in the item of a person.
type claimRecord struct {
	Values []string  `dynamodbav:"values,omitempty"`
	At     time.Time `dynamodbav:"at"`
}

// Key returns the key of an account's item.
func Key(id int64) dynamo.Item { return dynamo.Marshal(key{id}) }

// Get returns an account. The kind of its error is NotFound if there is none with the id.
func (s *Store) Get(ctx context.Context, id int64) (User, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return User{}, fmt.Errorf("get user %d: %w", id, err)
	}
	if !isAccount(item) {
		return User{}, notFound(anyKind, id)
	}
	return FromItem(item)
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
		if !isAccount(item) {
			continue
		}
		u, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// isAccount reports whether an item is an account that is not being deleted.
func isAccount(item dynamo.Item) bool { return item[attributeKind] != nil }

// SetDisabled disables or enables an account. The account's tokens are rejected or accepted from then on. The kind of
// its error is NotFound if there is none with the id, and Conflict for the last enabled Admin, unless force is true.
func (s *Store) SetDisabled(ctx context.Context, id int64, disabled, force bool) error {
	_, err := s.modify(ctx, id, force, func(u *User) error {
		u.Disabled = disabled
		return nil
	})
	return err
}

// SetRole changes the root role of an account. The role applies from the next request on. The kind of its error is
// NotFound if there is none with the id, and Conflict for the last enabled Admin, unless force is true.
func (s *Store) SetRole(ctx context.Context, id int64, role access.Role, force bool) error {
	_, err := s.modify(ctx, id, force, func(u *User) error {
		u.Role = role
		return nil
	})
	return err
}

// Update changes the name, the e-mail address, the role and the state of an account of the kind, and returns it. change
// receives the account; its error ends the update. The kind of the error of Update is, in this order, NotFound if there
// is no such account, that of change, Conflict for the last enabled Admin, Validation if the role does not exist, or
// NameExists if another person has the e-mail address.
func (s *Store) Update(ctx context.Context, kind Kind, id int64, change func(*User) error) (User, error) {
	return s.modify(ctx, id, false, func(u *User) error {
		if u.Kind != kind {
			return notFound(kind, id)
		}
		return change(u)
	})
}

// modify is Update for an account of any kind. Unless force is true, the last enabled Admin stays one. It is one
// consistent read and one transaction, repeated if the account is changed concurrently. If nothing changes, it is the
// read alone.
func (s *Store) modify(ctx context.Context, id int64, force bool, change func(*User) error) (next User, err error) {
	var actions *dynamo.Actions
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		actions = &dynamo.Actions{}
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		next = old
		if err := change(&next); err != nil || reflect.DeepEqual(old, next) {
			return nil, err
		}
		if !force && !next.isEnabledAdmin() {
			if err := s.KeepAdmin(ctx, actions, old); err != nil {
				return nil, err
			}
		}
		if next.Role != old.Role && next.Role.IsCustom() {
			actions.Add(actionRole, s.access.AssignRole(next.Role))
		}
		event, record, err := s.log.RecordActions(ctx, old.changeTo(next))
		if err != nil {
			return nil, err
		}
		next.LastEvent = event
		kind := expression.Name(attributeKind)
		update := eventlog.SetLast(next.LastEvent).
			Set(expression.Name("name"), expression.Value(next.Name)).
			Set(expression.Name("rootRole"), expression.Value(next.Role)).
			Set(expression.Name(attributeDisabled), expression.Value(next.Disabled))
		if next.Email != old.Email {
			update = update.Set(expression.Name("email"), expression.Value(next.Email))
			actions.Add(actionIdentifier, s.reserve(emailIdentifier(next.Email), id))
			if old.Email != "" {
				actions.Add(actionRelease, s.release(emailIdentifier(old.Email), id))
			}
		}
		actions.Add(actionAccount, s.update(id, expression.NewBuilder().
			WithCondition(kind.Equal(expression.Value(old.Kind)).And(eventlog.HasLast(old.LastEvent))).
			WithUpdate(update)))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		failed := actions.Failed(failures)
		switch {
		case failed[actionRole].Failed:
			return noRole(next.Role)
		case failed[actionIdentifier].Failed:
			return emailExists()
		}
		return nil
	})
	if err != nil {
		return User{}, fmt.Errorf("change user %d: %w", id, err)
	}
	return next, nil
}

// isEnabledAdmin reports whether the account is a person who can administer the installation.
func (u User) isEnabledAdmin() bool {
	return u.Kind == Person && u.Role == access.RoleAdmin && !u.Disabled
}

// KeepAdmin adds the condition that another person is an enabled Admin, if u is one. If there is none, the kind of its
// error is Conflict. It reads all accounts.
func (s *Store) KeepAdmin(ctx context.Context, actions *dynamo.Actions, u User) error {
	if !u.isEnabledAdmin() {
		return nil
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(other User) bool { return other.ID != u.ID && other.isEnabledAdmin() })
	if i < 0 {
		return apierror.New(apierror.Conflict, "The person is the last enabled Admin. Make another person Admin first.")
	}
	actions.Add(actionOtherAdmin, dynamo.CheckItem(s.table, Key(all[i].ID),
		expression.Name(attributeKind).Equal(expression.Value(Person)).
			And(expression.Name("rootRole").Equal(expression.Value(access.RoleAdmin))).
			And(expression.Name(attributeDisabled).Equal(expression.Value(false)))))
	return nil
}

// update returns the action that updates an item of the table Users.
func (s *Store) update(id int64, builder expression.Builder) types.TransactWriteItem {
	return dynamo.UpdateItem(s.table, Key(id), builder)
}

// toItem does not store tokens.
func toItem(u User) dynamo.Item {
	return dynamo.Marshal(record{
		key:       key{u.ID},
		Kind:      u.Kind,
		Name:      u.Name,
		Username:  u.Username,
		Email:     u.Email,
		Role:      u.Role,
		Disabled:  u.Disabled,
		PATs:      map[string]int64{},
		Identity:  (*identityRecord)(u.Identity),
		CreatedAt: u.CreatedAt,
		LastEvent: u.LastEvent,
	})
}

// FromItem returns the account that an item contains. An item that is no account has no kind.
func FromItem(item dynamo.Item) (User, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return User{}, err
	}
	return stored.account(), nil
}

// account returns the account of the item, without a kind if its deletion has begun.
func (r record) account() User {
	u := User{
		ID:        r.ID,
		Kind:      r.Kind,
		Name:      r.Name,
		Username:  r.Username,
		Email:     r.Email,
		Role:      r.Role,
		Disabled:  r.Disabled,
		PATs:      r.PATs,
		Identity:  (*Identity)(r.Identity),
		Groups:    r.Groups,
		Claim:     (*Claim)(r.Claim),
		CreatedAt: r.CreatedAt,
		LastEvent: r.LastEvent,
	}
	if u.PATs == nil {
		u.PATs = map[string]int64{}
	}
	return u
}
