package pat

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/savedview"
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// AttributeSeenAt is the attribute that the authorizer writes.
const AttributeSeenAt = "seenAt"

// The attributes of the counter.
const (
	lastID        = "lastId"        // the last id that was taken for a token
	lastCreatedAt = "lastCreatedAt" // the latest time at which an id was taken
)

// Table is the logical id of the table.
const Table = "PersonalAccessTokens"

// hash is the table's partition key.
const hash = "userId"

// The names of the actions of a transaction.
const (
	actionToken  = "token"
	actionOwner  = "owner"  // the entry of the token in the item of its owner
	actionOthers = "others" // events, and the deletion of an expired token
)

// Store keeps the tokens in the table PersonalAccessTokens, and their descriptions in the table Users. It is safe for
// concurrent use.
type Store struct {
	client    *dynamodb.Client
	pats      string
	users     string
	access    string // only GetWithDirectory reads it
	accounts  *user.Store
	groups    *group.Store
	favorites *favorite.Store
	views     *savedview.Store
	owners    *ownership.Store
	trusts    *trust.Store
	log       *eventlog.Log
	random    io.Reader
}

// NewStore returns a Store that uses the tables PersonalAccessTokens, Users and, in DeleteOwner, Identifiers
// and Access, and records its changes in log. It reads secrets from random. log and random can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log, random io.Reader) *Store {
	return &Store{
		client: client, pats: tables[Table], users: tables[user.Table], access: tables[accesstable.Table],
		accounts: user.NewStore(client, tables, log),
		groups:   group.NewStore(client, tables, log), favorites: favorite.NewStore(client, tables),
		views:  savedview.NewStore(client, tables),
		owners: ownership.NewStore(client, tables),
		trusts: trust.NewStore(client, tables, log),
		log:    log, random: random,
	}
}

// key is the key of a token's item.
type key struct {
	UserID int64 `dynamodbav:"userId"`
	ID     int64 `dynamodbav:"id"`
}

// record is the item of a token.
type record struct {
	key
	Verifier      []byte     `dynamodbav:"verifier"`
	Description   string     `dynamodbav:"description"`
	ExpiresAt     time.Time  `dynamodbav:"expiresAt"`
	CreatedAt     time.Time  `dynamodbav:"createdAt"`
	SeenAt        *time.Time `dynamodbav:"seenAt,omitempty"` // only the authorizer writes it
	AnnouncedDays int64      `dynamodbav:"announcedDays,omitempty"`
	LastEvent     int64      `dynamodbav:"event,omitempty"`
}

// Key returns the key of a token's item. The item (0, 0) is the counter of ids.
func Key(userID, id int64) dynamo.Item { return dynamo.Marshal(key{userID, id}) }

// List returns the tokens of all accounts, ordered by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]PAT, error) {
	var all []PAT
	for item, err := range dynamo.Scan(ctx, s.client, s.pats) {
		if err != nil {
			return nil, fmt.Errorf("list PATs: %w", err)
		}
		p, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list PATs: %w", err)
		}
		if p.UserID != 0 { // the counter's partition
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b PAT) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// ListOf returns the tokens of one account, ordered by id; none if there is no such account. It is one consistent Query
// per MB.
func (s *Store) ListOf(ctx context.Context, userID int64) ([]PAT, error) {
	var all []PAT
	for item, err := range dynamo.Query(ctx, s.client, s.pats, hash, dynamo.N(userID)) {
		if err != nil {
			return nil, fmt.Errorf("list PATs of user %d: %w", userID, err)
		}
		p, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list PATs of user %d: %w", userID, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Get returns a token and its owner. The kind of its error is NotFound if one of them does not exist. It is one
// consistent BatchGetItem, repeated for keys that DynamoDB left unprocessed.
func (s *Store) Get(ctx context.Context, userID, id int64) (PAT, user.User, error) {
	p, owner, _, err := s.read(ctx, userID, id, map[string]dynamo.Item{})
	return p, owner, err
}

// GetWithDirectory is Get that also reads the directory of groups and custom root roles, in the same call.
func (s *Store) GetWithDirectory(ctx context.Context, userID, id int64) (
	PAT, user.User, accesstable.Directory, error,
) {
	p, owner, got, err := s.read(ctx, userID, id, map[string]dynamo.Item{s.access: accesstable.DirectoryKey()})
	if err != nil {
		return p, owner, accesstable.Directory{}, err
	}
	directory, err := accesstable.UnmarshalDirectory(got[s.access])
	return p, owner, directory, err
}

// read reads a token and its owner, and the items that keys contains, by table.
func (s *Store) read(ctx context.Context, userID, id int64, keys map[string]dynamo.Item) (
	p PAT, owner user.User, got map[string]dynamo.Item, err error,
) {
	keys[s.pats], keys[s.users] = Key(userID, id), user.Key(userID)
	if got, err = dynamo.GetEach(ctx, s.client, keys); err != nil {
		return PAT{}, user.User{}, nil, fmt.Errorf("get PAT %d of user %d: %w", id, userID, err)
	}
	if got[s.pats] == nil || got[s.users] == nil {
		return PAT{}, user.User{}, nil, notFound(userID, id)
	}
	if p, err = FromItem(got[s.pats]); err != nil {
		return PAT{}, user.User{}, nil, err
	}
	owner, err = user.FromItem(got[s.users])
	return p, owner, got, err
}

// Find returns an error, whose kind is NotFound, unless an account of the kind has the token. It is a consistent read of
// the token and, unless the kind is AnyKind, one of the account.
func (s *Store) Find(ctx context.Context, kind user.Kind, userID, id int64) error {
	item, err := dynamo.Get(ctx, s.client, s.pats, Key(userID, id))
	if err != nil {
		return fmt.Errorf("get PAT %d of user %d: %w", id, userID, err)
	}
	if item == nil {
		return notFound(userID, id)
	}
	if kind == AnyKind {
		return nil
	}
	_, err = s.accounts.Find(ctx, kind, userID)
	return err
}

// Delete deletes a token of an account of the kind and its entry in the account. The kind of its error is
// NotFound if there is no such account or token.
//
// The entry's key is the token's description, so Delete first reads the token: one GetItem, then one transaction.
func (s *Store) Delete(ctx context.Context, kind user.Kind, userID, id int64) error {
	var actions *dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		item, err := dynamo.Get(ctx, s.client, s.pats, Key(userID, id))
		if err != nil {
			return nil, err
		}
		if item == nil {
			return nil, notFound(userID, id)
		}
		p, err := FromItem(item)
		if err != nil {
			return nil, err
		}
		owner := s.changeOwner(p, kind, expression.Remove(entry(p)), entry(p).Equal(expression.Value(p.ID)))
		deletion, err := s.deletion(ctx, p, kind)
		if err != nil {
			return nil, err
		}
		actions = &dynamo.Actions{}
		actions.Add(actionOwner, owner)
		actions.Add(actionToken, deletion...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		if actions.Failed(failures)[actionOwner].Failed { // a concurrent call deleted it, or the account is of another kind
			return notFound(userID, id)
		}
		return nil // its expiry was recorded at the same time
	})
	if err != nil {
		return fmt.Errorf("delete PAT %d: %w", id, err)
	}
	return nil
}

// entry returns the path of a token's entry in the map of its owner.
func entry(p PAT) expression.NameBuilder {
	return expression.Name(user.AttributePATs + "." + DescriptionKey(p.Description)) // a key contains no period
}

// changeOwner returns the action that changes p's entry in the map of its owner, an account of the kind, under a
// condition. If the condition fails, the action returns the owner's item.
func (s *Store) changeOwner(
	p PAT, kind user.Kind, update expression.UpdateBuilder, condition expression.ConditionBuilder,
) types.TransactWriteItem {
	if kind == AnyKind {
		condition = condition.And(expression.Name("kind").AttributeExists()) // the account's deletion has not begun
	} else {
		condition = condition.And(expression.Name("kind").Equal(expression.Value(string(kind))))
	}
	return dynamo.UpdateItemOrReturn(s.users, user.Key(p.UserID),
		expression.NewBuilder().WithUpdate(update).WithCondition(condition))
}

// toItem does not store when the token was last seen.
func toItem(p PAT) dynamo.Item {
	return dynamo.Marshal(record{
		key:           key{p.UserID, p.ID},
		Verifier:      p.Verifier[:],
		Description:   p.Description,
		ExpiresAt:     p.ExpiresAt,
		CreatedAt:     p.CreatedAt,
		AnnouncedDays: p.AnnouncedDays,
		LastEvent:     p.LastEvent,
	})
}

// FromItem returns the token that an item contains.
func FromItem(item dynamo.Item) (PAT, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return PAT{}, err
	}
	p := PAT{
		ID:            stored.ID,
		UserID:        stored.UserID,
		Description:   stored.Description,
		ExpiresAt:     stored.ExpiresAt,
		CreatedAt:     stored.CreatedAt,
		SeenAt:        stored.SeenAt,
		AnnouncedDays: stored.AnnouncedDays,
		LastEvent:     stored.LastEvent,
	}
	copy(p.Verifier[:], stored.Verifier)
	return p, nil
}
