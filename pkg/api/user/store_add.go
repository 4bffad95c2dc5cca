package user

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
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

// The names of the actions of a transaction.
const (
	actionAccount    = "account"
	actionIdentifier = "identifier" // the reservation of the e-mail address
	actionUsername   = "username"   // the reservation of the username
	actionRelease    = "release"    // of the former e-mail address
	actionOtherAdmin = "other admin"
	actionRole       = "role"
	actionNumber     = "number" // of accounts of the kind
	actionLink       = "link"
	actionCounter    = "counter" // of ids
	actionEvent      = "event"
)

// identifierRecord is the item of an identifier in the table Identifiers: the account that has it.
type identifierRecord struct {
	Identifier string `dynamodbav:"id"`
	Account    int64  `dynamodbav:"accountId"`
	LastEvent  int64  `dynamodbav:"event,omitempty"` // of a link: the event that records it
}

// DefaultLimit is the template's default of MaxServiceAccounts. With 10 tokens each, 200 accounts are up to 4.75 MB in
// the list of service accounts. Lambda's limit of a response is 6 MB.
const DefaultLimit = 200

// MaxPeople is the maximum number of people.
const MaxPeople = 2000

// The attributes with the number of accounts of each kind, including those whose deletion has not ended.
const (
	people          = "people"
	serviceAccounts = "serviceAccounts"
)

// numberOf returns the attribute with the number of accounts of a kind.
func numberOf(kind Kind) string {
	if kind == ServiceAccount {
		return serviceAccounts
	}
	return people
}

// count returns the action that adds 1 to the number of accounts of a kind. It fails if the limit is reached. limit is
// that of service accounts.
func (s *Store) count(kind Kind, limit int64) types.TransactWriteItem {
	if kind == Person {
		limit = MaxPeople
	}
	update, condition := dynamo.Increment(numberOf(kind), limit)
	return s.update(numberID, expression.NewBuilder().WithUpdate(update).WithCondition(condition))
}

// limitReached returns the error if there are as many accounts of a kind as there can be. limit is that of service
// accounts.
func limitReached(kind Kind, limit int64) error {
	if kind == Person {
		return apierror.Errorf(apierror.Validation, "Failed to create user. You can't create more than the established limit "+
			"of %d. Delete a user first.", MaxPeople)
	}
	return apierror.Errorf(apierror.NoAccess,
		"The maximum number of service accounts (%d) is reached. Delete one first.", limit)
}

// uncount returns the action that subtracts 1 from the number of accounts of a kind.
func (s *Store) uncount(kind Kind) types.TransactWriteItem {
	update := expression.Add(expression.Name(numberOf(kind)), expression.Value(-1))
	return s.update(numberID, expression.NewBuilder().WithUpdate(update))
}

// Add adds an account without tokens under the next id; it ignores u.ID. limit is the maximum number of service
// accounts. The kind of its error is, in this order, NoAccess if the last id is access.MaxID or the limit is reached
// (Validation for people), Validation if the role does not exist, and NameExists if another account has the e-mail
// address, the username or the identity.
//
// Add is one UpdateItem of the counter of ids, and one transaction without the counter. The transaction writes the
// account, the reservations of its e-mail address and username and the link of its identity, provided that they are
// unused.
func (s *Store) Add(ctx context.Context, u User, limit int64) (User, error) {
	return s.add(ctx, addition{User: u, limit: limit})
}

// AddUnless is Add for a person whom only the name identifies, so that no reservation prevents a second one. It adds
// nothing if an account is the same person; the kind of its error is NameExists then. It reads all accounts after it has
// taken the id, and its transaction requires that no id was taken since: of concurrent calls for the same person, the
// later one reads the account of the earlier one.
func (s *Store) AddUnless(ctx context.Context, u User, limit int64, isSame func(User) bool) (User, error) {
	return s.add(ctx, addition{User: u, limit: limit, isSame: isSame})
}

// addition is an account that is added.
type addition struct {
	User
	limit  int64             // of the number of service accounts
	signUp bool              // the person is the actor of the event
	stale  *identifierRecord // the stale link that the link of the identity replaces; nil: none
	isSame func(User) bool   // whether an account is the person; nil: the identifiers of the account decide
}

// add is Add.
func (s *Store) add(ctx context.Context, a addition) (User, error) {
	u := a.User
	u.PATs = map[string]int64{}
	for {
		var err error
		if u.ID, err = s.takeID(ctx); err != nil {
			return User{}, err
		}
		if err := s.checkNew(ctx, a); err != nil {
			return User{}, err
		}
		by := ctx
		if a.signUp {
			by = eventlog.WithActor(ctx, u.Actor())
		}
		var actions *dynamo.Actions
		failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
			actions = &dynamo.Actions{}
			if err := s.addActions(by, actions, &u, a.limit); err != nil {
				return nil, err
			}
			if u.Identity != nil {
				actions.Add(actionLink, s.link(*u.Identity, u.ID, u.LastEvent, a.stale))
			}
			if a.isSame != nil {
				actions.Add(actionCounter, s.isLast(u.ID))
			}
			return actions.List(), nil
		})
		if err != nil {
			return User{}, fmt.Errorf("add user %d: %w", u.ID, err)
		}
		if failures == nil {
			return u, nil
		}
		failed := actions.Failed(failures)
		switch {
		case failed[actionNumber].Failed:
			return User{}, limitReached(u.Kind, a.limit)
		case failed[actionRole].Failed:
			return User{}, noRole(u.Role)
		case failed[actionIdentifier].Failed:
			return User{}, emailExists()
		case failed[actionUsername].Failed:
			return User{}, usernameExists()
		case failed[actionLink].Failed:
			return User{}, identityExists()
		}
		// Another id was taken after this one, or the counter is too low, because a restore has not ended: another account
		// has the id.
	}
}

// checkNew returns an error of the kind NameExists if an account is the person that is added.
func (s *Store) checkNew(ctx context.Context, a addition) error {
	if a.isSame == nil {
		return nil
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, a.isSame) {
		return apierror.New(apierror.NameExists, "There is already a person with this name.")
	}
	return nil
}

// isLast returns the action that fails unless an id is the last one that was taken.
func (s *Store) isLast(id int64) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, Key(counterID), expression.Name(lastID).Equal(expression.Value(id)))
}

// takeID takes the next id from the counter.
func (s *Store) takeID(ctx context.Context) (int64, error) {
	counter, err := s.client.UpdateItem(ctx, dynamo.Count(s.table, Key(counterID), lastID, access.MaxID))
	if dynamo.FailedCondition(err) {
		return 0, apierror.Errorf(apierror.NoAccess, "All ids of accounts, up to %d, are used up.", access.MaxID)
	}
	if err != nil {
		return 0, fmt.Errorf("take an id for a user: %w", err)
	}
	return dynamo.Item(counter.Attributes).Int(lastID), nil
}

// addActions adds the actions that write, record and count an account, and reserve its e-mail address and username. It
// sets the account's last event. The actions fail if the id or a name is taken, or if the limit is reached.
func (s *Store) addActions(ctx context.Context, actions *dynamo.Actions, u *User, limit int64) error {
	u.LastEvent = 0
	id, record, err := s.log.RecordActions(ctx, u.creation())
	if err != nil {
		return err
	}
	u.LastEvent = id
	actions.Add(actionAccount, dynamo.NewItem(s.table, hash, toItem(*u)))
	if u.Email != "" {
		actions.Add(actionIdentifier, s.reserve(emailIdentifier(u.Email), u.ID))
	}
	if u.Username != "" {
		actions.Add(actionUsername, s.reserve(usernameIdentifier(u.Username), u.ID))
	}
	if u.Role.IsCustom() {
		actions.Add(actionRole, s.access.AssignRole(u.Role))
	}
	actions.Add(actionNumber, s.count(u.Kind, limit))
	actions.Add(actionEvent, record...)
	return nil
}

// CreateActions returns the actions of a transaction that adds an account without tokens under the id u.ID, which
// ReserveID has reserved. They fail if the id, the e-mail address or the username is taken. The kind of its error is
// NameExists if one of the names is taken already, and Conflict if the account with the id is being deleted.
func (s *Store) CreateActions(ctx context.Context, u User) ([]types.TransactWriteItem, error) {
	stored, err := s.stored(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if stored.Deleting != "" {
		return nil, apierror.Errorf(apierror.Conflict, "The deletion of the account with the id %d has not ended.", u.ID)
	}
	for _, name := range u.uniqueNames() {
		reservation, err := s.accountOf(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("read whether the name of user %d is taken: %w", u.ID, err)
		}
		if reservation != nil && name == emailIdentifier(u.Email) {
			return nil, emailExists()
		}
		if reservation != nil {
			return nil, usernameExists()
		}
	}
	var actions dynamo.Actions
	if err := s.addActions(ctx, &actions, &u, DefaultLimit); err != nil {
		return nil, err
	}
	return actions.List(), nil
}

// ReserveID raises the counter of ids to id if it is lower, so that Add never takes the id, even after an account with
// it was deleted.
func (s *Store) ReserveID(ctx context.Context, id int64) error {
	last := expression.Name(lastID)
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(last.AttributeNotExists().Or(last.LessThan(expression.Value(id)))).
		WithUpdate(expression.Set(last, expression.Value(id))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       Key(counterID),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("raise the counter of users to %d: %w", id, err)
	}
	return nil
}

// Create reserves the id u.ID and adds an account without tokens under it. If the id, the e-mail address or the username is
// taken, it adds nothing.
func (s *Store) Create(ctx context.Context, u User) error {
	if err := s.ReserveID(ctx, u.ID); err != nil {
		return err
	}
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		var actions dynamo.Actions
		err := s.addActions(ctx, &actions, &u, DefaultLimit)
		return actions.List(), err
	})
	if err != nil {
		return fmt.Errorf("create user %d: %w", u.ID, err)
	}
	return nil
}

// uniqueNames returns the identifiers of the account that no other account may have, without its identity.
func (u User) uniqueNames() (names []string) {
	if u.Email != "" {
		names = append(names, emailIdentifier(u.Email))
	}
	if u.Username != "" {
		names = append(names, usernameIdentifier(u.Username))
	}
	return names
}

// identifiers returns the keys of what the table Identifiers contains about the account.
func (u User) identifiers() []string {
	names := u.uniqueNames()
	if u.Identity != nil {
		names = append(names, linkName(*u.Identity))
	}
	return names
}

// emailIdentifier returns the identifier of an e-mail address.
func emailIdentifier(email string) string { return "email:" + strings.ToLower(email) }

// usernameIdentifier returns the identifier of a username.
func usernameIdentifier(username string) string { return "username:" + spelling.Fold(username) }

// emailExists returns the error if another person has an e-mail address.
func emailExists() error {
	return apierror.Taken("/body/email", "There is already a person with this e-mail address.")
}

// noRole returns the error if a custom root role does not exist.
func noRole(id access.Role) error {
	return apierror.Errorf(apierror.Validation, "There is no root role with the id %d.", int64(id))
}

// usernameExists returns the error if another account has a username.
func usernameExists() error {
	return apierror.Taken("/body/username", "There is already an account with this username.")
}

// reserve returns the action that reserves an identifier for an account. It fails if the identifier is reserved.
func (s *Store) reserve(identifier string, id int64) types.TransactWriteItem {
	return dynamo.NewItem(s.identifiers, hash, dynamo.Marshal(identifierRecord{Identifier: identifier, Account: id}))
}

// identifierKey is the key of an item of the table Identifiers.
type identifierKey struct {
	Identifier string `dynamodbav:"id"`
}

// IdentifierKey returns the key of an item of the table Identifiers.
func IdentifierKey(identifier string) dynamo.Item { return dynamo.Marshal(identifierKey{identifier}) }

// accountOf returns the item of an identifier, or nil if no account has it.
func (s *Store) accountOf(ctx context.Context, identifier string) (*identifierRecord, error) {
	item, err := dynamo.Get(ctx, s.client, s.identifiers, IdentifierKey(identifier))
	if err != nil || item == nil {
		return nil, err
	}
	var stored identifierRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return nil, err
	}
	return &stored, nil
}

// release returns the action that deletes an identifier of an account. It fails if the identifier is another account's.
func (s *Store) release(identifier string, id int64) types.TransactWriteItem {
	account := expression.Name(accountID)
	return dynamo.DeleteItem(s.identifiers, IdentifierKey(identifier),
		account.AttributeNotExists().Or(account.Equal(expression.Value(id))))
}
