package pat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// Store keeps the PATs in DynamoDB. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	pats   string
	users  string
	random io.Reader
	turn   turn
}

var (
	_ Creator = (*Store)(nil)
	_ Deleter = (*Store)(nil)
)

// NewStore makes a store on the tables PersonalAccessTokens and Users.
func NewStore(client *dynamodb.Client, pats, users string, random io.Reader) *Store {
	return &Store{client: client, pats: pats, users: users, random: random, turn: newTurn()}
}

// Key is the key of a PAT's item. The item (0, 0) is the counter of ids.
func Key(userID, id int64) dynamo.Item {
	return dynamo.Item{"userId": dynamo.N(userID), "id": dynamo.N(id)}
}

const (
	lastID = "lastId" // the counter's attribute: the id of the last PAT

	// lookTime is how long afterFault may look, within the half second that a handler has left when its context ends.
	lookTime = 300 * time.Millisecond
)

// Create implements Creator. Creations of one process take turns, since they would only lose races against each other; against other
// processes a lost race is tried again with the counter that won.
func (s *Store) Create(ctx context.Context, p PAT, owner Owner) (PAT, auth.Token, error) {
	last, err := s.turn.take(ctx)
	if err != nil {
		return PAT{}, auth.Token{}, apierror.NewUnavailable(fmt.Errorf("wait for a turn to create a PAT: %w", err))
	}
	taken := int64(0)
	defer func() { s.turn.pass(taken) }()
	p, token, err := s.create(ctx, p, owner, last)
	taken = p.ID
	return p, token, err
}

func (s *Store) create(ctx context.Context, p PAT, owner Owner, last int64) (PAT, auth.Token, error) {
	if last == 0 {
		counter, err := dynamo.Get(ctx, s.client, s.pats, Key(0, 0))
		if err != nil {
			return PAT{}, auth.Token{}, fmt.Errorf("read the counter of PATs: %w", err)
		}
		last = counter.Int(lastID)
	}
	// The secret is the same in every attempt: that is how an attempt recognises what an earlier one wrote.
	template, err := auth.NewToken(auth.PAT, auth.Selector{}, s.random)
	if err != nil {
		return PAT{}, auth.Token{}, err
	}
	p.Verifier = template.Verifier()
	for attempt := 1; ; attempt++ {
		if last >= auth.MaxID {
			return PAT{}, auth.Token{}, errNoIDsLeft
		}
		p.ID = last + 1
		failures, err := dynamo.Transact(ctx, s.client, s.creation(p, last, owner))
		if err != nil {
			return s.afterFault(ctx, p, template, err)
		}
		if failures == nil {
			return p, template.At(auth.PATSelector(p.UserID, p.ID)), nil
		}
		if failure := failures[ownerAction]; failure.Failed {
			return s.refused(ctx, p, template, failure.Item, owner)
		}
		counter := failures[counterAction]
		if !counter.Failed {
			return PAT{}, auth.Token{}, errBehind
		}
		last = counter.Item.Int(lastID)
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return PAT{}, auth.Token{}, apierror.NewUnavailable(fmt.Errorf("lost every race for an id: %w", err))
		}
	}
}

// The actions of a creation, by their place in the transaction.
const (
	counterAction = iota
	patAction
	ownerAction
)

func (s *Store) creation(p PAT, last int64, owner Owner) []types.TransactWriteItem {
	counter := &types.Update{
		TableName: &s.pats, Key: Key(0, 0),
		ConditionExpression:                 aws.String("#lastId = :last"),
		UpdateExpression:                    aws.String("SET #lastId = :next"),
		ExpressionAttributeNames:            map[string]string{"#lastId": lastID},
		ExpressionAttributeValues:           dynamo.Item{":last": dynamo.N(last), ":next": dynamo.N(p.ID)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if last == 0 {
		counter.ConditionExpression = aws.String("attribute_not_exists(#lastId)")
		delete(counter.ExpressionAttributeValues, ":last")
	}
	return []types.TransactWriteItem{
		counterAction: {Update: counter},
		patAction: {Put: &types.Put{
			TableName: &s.pats, Item: itemOf(p),
			ConditionExpression:      aws.String("attribute_not_exists(#id)"),
			ExpressionAttributeNames: map[string]string{"#id": "id"},
		}},
		ownerAction: {Update: &types.Update{
			TableName: &s.users, Key: user.Key(p.UserID),
			ConditionExpression: aws.String("#kind = :kind AND attribute_not_exists(#pats.#key) AND size(#pats) < :limit"),
			UpdateExpression:    aws.String("SET #pats.#key = :id"),
			ExpressionAttributeNames: map[string]string{
				"#kind": "kind", "#pats": user.AttributePATs, "#key": DescriptionKey(p.Description),
			},
			ExpressionAttributeValues: dynamo.Item{
				":kind": dynamo.S(string(owner.Kind)), ":limit": dynamo.N(int64(owner.Limit)), ":id": dynamo.N(p.ID),
			},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	}
}

// refused says why the owner's condition failed, unless it failed because an earlier attempt of this very creation was written without
// our hearing of it.
func (s *Store) refused(ctx context.Context, p PAT, token auth.Token, item dynamo.Item, owner Owner) (PAT, auth.Token, error) {
	account := user.Of(item)
	if item == nil || account.Kind != owner.Kind {
		return PAT{}, auth.Token{}, ErrNoOwner
	}
	id, exists := account.PATs[DescriptionKey(p.Description)]
	if exists {
		p.ID = id
		own, err := s.isOwn(ctx, p)
		if err != nil {
			return PAT{}, auth.Token{}, err
		}
		if own {
			return p, token.At(auth.PATSelector(p.UserID, p.ID)), nil
		}
	}
	if len(account.PATs) >= owner.Limit {
		return PAT{}, auth.Token{}, ErrTooMany
	}
	return PAT{}, auth.Token{}, ErrDescriptionExists
}

// isOwn says whether the PAT that is stored under p's id has p's verifier.
func (s *Store) isOwn(ctx context.Context, p PAT) (bool, error) {
	item, err := dynamo.Get(ctx, s.client, s.pats, Key(p.UserID, p.ID))
	if err != nil {
		return false, fmt.Errorf("look for the PAT that may have been written: %w", err)
	}
	return p.Verifier.Equal(item.Bytes("verifier")), nil
}

// afterFault looks once more whether the last attempt was written although no answer came, in the margin that every deadline leaves.
func (s *Store) afterFault(ctx context.Context, p PAT, token auth.Token, fault error) (PAT, auth.Token, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime) // the request's own time may be over
	defer cancel()
	own, err := s.isOwn(ctx, p)
	if own {
		return p, token.At(auth.PATSelector(p.UserID, p.ID)), nil
	}
	return PAT{}, auth.Token{}, fmt.Errorf("create a PAT: %w", errors.Join(fault, err))
}

// Delete implements Deleter.
func (s *Store) Delete(ctx context.Context, userID, id int64) error {
	item, err := dynamo.Get(ctx, s.client, s.pats, Key(userID, id))
	switch {
	case err != nil:
		return fmt.Errorf("get PAT %d: %w", id, err)
	case item == nil:
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
	switch {
	case err != nil:
		return fmt.Errorf("delete PAT %d: %w", id, err)
	case failures != nil: // another deletion was quicker
		return ErrNotFound
	}
	return nil
}
