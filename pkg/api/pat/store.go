package pat

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
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

// Store keeps the tokens in the table PersonalAccessTokens, and their descriptions in the table Users. It is safe for
// concurrent use.
type Store struct {
	client   *dynamodb.Client
	pats     string
	users    string
	accounts *user.Store
	log      *eventlog.Log
	random   io.Reader
}

// NewStore returns a Store that uses the tables PersonalAccessTokens, Users and, in DeleteOwner, Identifiers,
// and records its changes in log. It reads secrets from random. log and random can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log, random io.Reader) *Store {
	return &Store{
		client: client, pats: tables[Table], users: tables[user.Table], accounts: user.NewStore(client, tables, log),
		log: log, random: random,
	}
}

// Key returns the key of a token's item. The item (0, 0) is the counter of ids.
func Key(userID, id int64) dynamo.Item {
	return dynamo.Item{"userId": dynamo.N(userID), "id": dynamo.N(id)}
}

// List returns the tokens of all accounts, ordered by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]PAT, error) {
	var all []PAT
	for item, err := range dynamo.Scan(ctx, s.client, s.pats) {
		if err != nil {
			return nil, fmt.Errorf("list PATs: %w", err)
		}
		if p := FromItem(item); p.UserID != 0 { // the counter's partition
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
	for item, err := range dynamo.Query(ctx, s.client, s.pats, "userId", dynamo.N(userID)) {
		if err != nil {
			return nil, fmt.Errorf("list PATs of user %d: %w", userID, err)
		}
		all = append(all, FromItem(item))
	}
	return all, nil
}

// Get returns a token and its owner. The kind of its error is NotFound if one of them does not exist. It is one
// consistent BatchGetItem, repeated for keys that DynamoDB left unprocessed.
func (s *Store) Get(ctx context.Context, userID, id int64) (PAT, user.User, error) {
	want := map[string]types.KeysAndAttributes{
		s.pats:  {Keys: []map[string]types.AttributeValue{Key(userID, id)}, ConsistentRead: aws.Bool(true)},
		s.users: {Keys: []map[string]types.AttributeValue{user.Key(userID)}, ConsistentRead: aws.Bool(true)},
	}
	got := map[string]dynamo.Item{}
	for attempt := 1; len(want) > 0; attempt++ {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: want})
		if err == nil && len(out.UnprocessedKeys) > 0 {
			err = dynamo.Pause(ctx, attempt)
		}
		if err != nil {
			return PAT{}, user.User{}, fmt.Errorf("get PAT %d of user %d: %w", id, userID, err)
		}
		for table, items := range out.Responses {
			for _, item := range items {
				got[table] = item
			}
		}
		want = out.UnprocessedKeys
	}
	if got[s.pats] == nil || got[s.users] == nil {
		return PAT{}, user.User{}, notFound(userID, id)
	}
	return FromItem(got[s.pats]), user.FromItem(got[s.users]), nil
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
	err := s.log.Write(ctx, func() ([]types.TransactWriteItem, error) {
		item, err := dynamo.Get(ctx, s.client, s.pats, Key(userID, id))
		if err != nil {
			return nil, err
		}
		if item == nil {
			return nil, notFound(userID, id)
		}
		p := FromItem(item)
		owner := s.changeOwner(p, kind, "REMOVE #pats.#key", "#pats.#key = :id", dynamo.Item{})
		deletion, err := s.deletion(ctx, p, kind)
		return append([]types.TransactWriteItem{owner}, deletion...), err
	}, func(failures []dynamo.Failure) error {
		if failures[0].Failed { // a concurrent call deleted it, or the account is of another kind
			return notFound(userID, id)
		}
		return nil // its expiry was recorded at the same time
	})
	if err != nil {
		return fmt.Errorf("delete PAT %d: %w", id, err)
	}
	return nil
}

// changeOwner returns the action that changes p's entry in the map of its owner, an account of the kind. #pats.#key is
// the entry and :id is p's id. If the condition fails, the action returns the owner's item.
func (s *Store) changeOwner(p PAT, kind user.Kind, update, condition string,
	values dynamo.Item) types.TransactWriteItem {
	names := map[string]string{"#pats": user.AttributePATs, "#key": DescriptionKey(p.Description), "#kind": "kind"}
	values[":id"] = dynamo.N(p.ID)
	if kind == AnyKind {
		condition += " AND attribute_exists(#kind)" // the account's deletion has not begun
	} else {
		condition += " AND #kind = :kind"
		values[":kind"] = dynamo.S(string(kind))
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.users, Key: user.Key(p.UserID),
		ConditionExpression: &condition, UpdateExpression: &update,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func toItem(p PAT) dynamo.Item {
	item := Key(p.UserID, p.ID)
	item["verifier"] = dynamo.B(p.Verifier[:])
	item["description"] = dynamo.S(p.Description)
	item["expiresAt"] = dynamo.Time(p.ExpiresAt)
	item["createdAt"] = dynamo.Time(p.CreatedAt)
	if p.LastEvent != 0 {
		item[eventlog.AttributeEvent] = dynamo.N(p.LastEvent)
	}
	if p.AnnouncedDays != 0 {
		item[attributeAnnounced] = dynamo.N(p.AnnouncedDays)
	}
	return item
}

// FromItem returns the token that an item contains.
func FromItem(item dynamo.Item) PAT {
	p := PAT{
		ID: item.Int("id"), UserID: item.Int("userId"), Description: item.String("description"),
		SeenAt:        item.Time(AttributeSeenAt),
		AnnouncedDays: item.Int(attributeAnnounced), LastEvent: item.Int(eventlog.AttributeEvent),
	}
	copy(p.Verifier[:], item.Bytes("verifier"))
	if t := item.Time("expiresAt"); t != nil {
		p.ExpiresAt = *t
	}
	if t := item.Time("createdAt"); t != nil {
		p.CreatedAt = *t
	}
	return p
}
