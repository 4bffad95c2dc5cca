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
	"toggleadmin/pkg/datetime"
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
func NewStore(client *dynamodb.Client, tables dynamo.Tables, random io.Reader) *Store {
	return &Store{client: client, pats: tables.PersonalAccessTokens, users: tables.Users, random: random, turn: newTurn()}
}

// Key is the key of a PAT's item. The item (0, 0) is the counter of ids.
func Key(userID, id int64) dynamo.Item {
	return dynamo.Item{"userId": dynamo.N(userID), "id": dynamo.N(id)}
}

const (
	lastID = "lastId" // the counter's attribute: the id of the last PAT

	// findOutTime bounds each of the two calls that find out what became of a creation. Together they fit into the half second that a
	// handler has left when its context ends.
	findOutTime = 200 * time.Millisecond
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
		var err error
		if last, err = s.LastID(ctx); err != nil {
			return PAT{}, auth.Token{}, err
		}
	}
	// The secret is the same in every attempt: that is how an attempt recognises what an earlier one wrote.
	template, err := auth.NewToken(auth.PAT, auth.Selector{}, s.random)
	if err != nil {
		return PAT{}, auth.Token{}, err
	}
	p.Verifier = template.Verifier()
	p.ExpiresAt, p.CreatedAt, p.SeenAt = datetime.Milliseconds(p.ExpiresAt), datetime.Milliseconds(p.CreatedAt), nil
	for attempt := 1; ; attempt++ {
		if last >= auth.MaxID {
			return PAT{}, auth.Token{}, errNoIDsLeft
		}
		p.ID = last + 1
		failures, err := dynamo.Transact(ctx, s.client, s.creation(p, last, owner))
		if err != nil {
			return s.afterFault(ctx, p, last, template, err)
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

// nextID is the counter's step from last to the next id, on the condition that last is the last.
func (s *Store) nextID(last int64) *types.Update {
	step := &types.Update{
		TableName: &s.pats, Key: Key(0, 0),
		ConditionExpression:                 aws.String("#lastId = :last"),
		UpdateExpression:                    aws.String("SET #lastId = :next"),
		ExpressionAttributeNames:            map[string]string{"#lastId": lastID},
		ExpressionAttributeValues:           dynamo.Item{":last": dynamo.N(last), ":next": dynamo.N(last + 1)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if last == 0 {
		step.ConditionExpression = aws.String("attribute_not_exists(#lastId)")
		delete(step.ExpressionAttributeValues, ":last")
	}
	return step
}

func (s *Store) creation(p PAT, last int64, owner Owner) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		counterAction: {Update: s.nextID(last)},
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
			look, cancel := findOut(ctx)
			defer cancel()
			own, err = s.isOwn(look, p)
		}
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

// findOut gives a context for finding out what became of a creation, which must not fail because the request's own time is over.
func findOut(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), findOutTime)
}

// isOwn says whether the PAT that is stored under p's id has p's verifier.
func (s *Store) isOwn(ctx context.Context, p PAT) (bool, error) {
	item, err := dynamo.Get(ctx, s.client, s.pats, Key(p.UserID, p.ID))
	if err != nil {
		return false, fmt.Errorf("look for the PAT that may have been written: %w", err)
	}
	return p.Verifier.Equal(item.Bytes("verifier")), nil
}

// afterFault ends a creation without an answer, in the margin that every deadline leaves. An attempt that was sent may have been written,
// or be written only now; so the id is made unusable for it, by a step of the counter alone. When that step comes too late, the
// PAT under the id is ours or another's for good. At worst an id stays unused.
func (s *Store) afterFault(ctx context.Context, p PAT, last int64, token auth.Token, fault error) (PAT, auth.Token, error) {
	fault = fmt.Errorf("create a PAT: %w", fault)
	if !dynamo.Unanswered(fault) {
		return PAT{}, auth.Token{}, fault
	}
	step, cancel := findOut(ctx)
	defer cancel()
	failures, err := dynamo.Transact(step, s.client, []types.TransactWriteItem{{Update: s.nextID(last)}})
	if err == nil && failures == nil {
		return PAT{}, auth.Token{}, fault
	}
	look, cancel := findOut(ctx)
	defer cancel()
	own, lookErr := s.isOwn(look, p)
	if own {
		return p, token.At(auth.PATSelector(p.UserID, p.ID)), nil
	}
	return PAT{}, auth.Token{}, errors.Join(fault, err, lookErr)
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
