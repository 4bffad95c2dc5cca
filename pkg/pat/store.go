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

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// AttributeSeenAt is the attribute that the authorizer writes.
const AttributeSeenAt = "seenAt"

const lastID = "lastId" // the counter's attribute: the id of the last token that was created

// Store keeps the tokens in the table PersonalAccessTokens, and their descriptions in the table Users. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	pats   string
	users  string
	random io.Reader
}

// NewStore returns a Store that uses tables.PersonalAccessTokens and tables.Users. It reads secrets from random.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, random io.Reader) *Store {
	return &Store{client: client, pats: tables.PersonalAccessTokens, users: tables.Users, random: random}
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

// LastID returns the id of the last token that was created, even if that token was deleted; 0 if none was. The read is consistent.
func (s *Store) LastID(ctx context.Context) (int64, error) {
	counter, err := dynamo.Get(ctx, s.client, s.pats, Key(0, 0))
	if err != nil {
		return 0, fmt.Errorf("read the counter of PATs: %w", err)
	}
	return counter.Int(lastID), nil
}

// Delete deletes a token of a user and its entry in the user's account. It returns ErrNotFound if the user has no such token.
func (s *Store) Delete(ctx context.Context, userID, id int64) error {
	item, err := dynamo.Get(ctx, s.client, s.pats, Key(userID, id))
	if err != nil {
		return fmt.Errorf("get PAT %d: %w", id, err)
	}
	if item == nil {
		return ErrNotFound
	}
	failures, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.pats, Key: Key(userID, id),
			ConditionExpression:      aws.String("attribute_exists(#id)"),
			ExpressionAttributeNames: map[string]string{"#id": "id"},
		}},
		{Update: &types.Update{
			TableName: &s.users, Key: user.Key(userID),
			ConditionExpression: aws.String("#pats.#key = :id"),
			UpdateExpression:    aws.String("REMOVE #pats.#key"),
			ExpressionAttributeNames: map[string]string{
				"#pats": user.AttributePATs, "#key": DescriptionKey(item.String("description")),
			},
			ExpressionAttributeValues: dynamo.Item{":id": dynamo.N(id)},
		}},
	})
	if err != nil {
		return fmt.Errorf("delete PAT %d: %w", id, err)
	}
	if failures != nil { // a concurrent call deleted it
		return ErrNotFound
	}
	return nil
}

func toItem(p PAT) dynamo.Item {
	item := Key(p.UserID, p.ID)
	item["verifier"] = dynamo.B(p.Verifier[:])
	item["description"] = dynamo.S(p.Description)
	item["expiresAt"] = dynamo.Time(p.ExpiresAt)
	item["createdAt"] = dynamo.Time(p.CreatedAt)
	return item
}

// FromItem returns the token that an item contains.
func FromItem(item dynamo.Item) PAT {
	p := PAT{ID: item.Int("id"), UserID: item.Int("userId"), Description: item.String("description"), SeenAt: item.Time(AttributeSeenAt)}
	copy(p.Verifier[:], item.Bytes("verifier"))
	if t := item.Time("expiresAt"); t != nil {
		p.ExpiresAt = *t
	}
	if t := item.Time("createdAt"); t != nil {
		p.CreatedAt = *t
	}
	return p
}
