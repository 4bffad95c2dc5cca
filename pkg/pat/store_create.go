package pat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/lambdahttp"
	"toggleadmin/pkg/user"
)

// cleanUpTime is how long each of the two calls that clean up after a creation without a response may take once the request's context has
// ended. Together they fit into the time that a handler keeps for its response.
const cleanUpTime = lambdahttp.DeadlineMargin * 2 / 5

// Create stores a new token of the account p.UserID under the next id. It returns the stored token, and the token in plain text. It
// ignores p.ID, p.SeenAt and p.Verifier.
//
// Create returns ErrNoOwner, ErrTooMany or ErrDescriptionExists, in this order, if the account does not allow the token, and writes
// nothing then. If a call to DynamoDB gets no response, Create reads whether the token was written. No token stays stored
// whose secret was not returned.
//
// Create is one transaction if the same Store created the previous token. Otherwise, as in the first call of a process, the transaction is
// rejected and returns the counter of ids, and Create sends another one.
func (s *Store) Create(ctx context.Context, p PAT, owner Owner) (PAT, auth.Token, error) {
	token, err := auth.NewToken(auth.PAT, auth.Selector{}, s.random)
	if err != nil {
		return PAT{}, auth.Token{}, err
	}
	p.Verifier = token.Verifier()
	p.ExpiresAt, p.CreatedAt, p.SeenAt = datetime.Milliseconds(p.ExpiresAt), datetime.Milliseconds(p.CreatedAt), nil
	if p.ID, err = s.insert(ctx, p, owner); err != nil {
		return PAT{}, auth.Token{}, err
	}
	return p, token.At(auth.PATSelector(p.UserID, p.ID)), nil
}

// The positions of the actions in the transaction that creates a token.
const (
	counterAction = iota
	patAction
	ownerAction
)

// insert writes p under the next id and returns this id. If the counter is at another id, insert tries the id after it. Every attempt has
// the same verifier, so that insert can identify what an earlier attempt wrote.
func (s *Store) insert(ctx context.Context, p PAT, owner Owner) (int64, error) {
	last := s.last.Load()
	for attempt := 0; last < auth.MaxID; attempt++ {
		if attempt > 1 { // the first value was remembered, so that other creations need not be the reason for the first rejection
			if err := dynamo.Pause(ctx, attempt-1); err != nil {
				return 0, fmt.Errorf("create a PAT: other tokens were created at the same time until the deadline: %w", err)
			}
		}
		p.ID = last + 1
		failures, err := dynamo.Transact(ctx, s.client, s.creation(p, owner))
		if err != nil {
			return s.afterError(ctx, p, fmt.Errorf("create a PAT: %w", err))
		}
		if failures == nil {
			s.last.Store(p.ID)
			return p.ID, nil
		}
		if failures[ownerAction].Failed {
			return s.rejected(ctx, p, owner, failures[ownerAction].Item)
		}
		if !failures[counterAction].Failed {
			return 0, errCounterBehind
		}
		last = failures[counterAction].Item.Int(lastID)
	}
	return 0, errNoIDsLeft
}

// creation returns the transaction that creates p, under the id after the counter's.
func (s *Store) creation(p PAT, owner Owner) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		counterAction: s.takeID(p.ID),
		patAction: {Put: &types.Put{
			TableName: &s.pats, Item: toItem(p),
			ConditionExpression:      aws.String("attribute_not_exists(#id)"),
			ExpressionAttributeNames: map[string]string{"#id": "id"},
		}},
		ownerAction: s.changeOwner(p, owner.Kind, "SET #pats.#key = :id",
			"attribute_not_exists(#pats.#key) AND size(#pats) < :limit", dynamo.Item{":limit": dynamo.N(int64(owner.Limit))}),
	}
}

// takeID returns the action that moves the counter to id. It fails if the counter is not at the id before it.
func (s *Store) takeID(id int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: dynamo.Advance(s.pats, Key(0, 0), lastID, id-1, id)}
}

// rejected returns why the condition on the owner's item failed. If it failed because an earlier attempt wrote p without a response,
// rejected returns the id of p.
func (s *Store) rejected(ctx context.Context, p PAT, owner Owner, item dynamo.Item) (int64, error) {
	account := user.FromItem(item)
	if account.Kind == "" || owner.Kind != AnyKind && account.Kind != owner.Kind { // also if its deletion has begun
		return 0, ErrNoOwner
	}
	id, exists := account.PATs[DescriptionKey(p.Description)]
	if exists {
		p.ID = id
		if own, err := s.isStored(ctx, p); own || err != nil {
			return id, err
		}
	}
	if len(account.PATs) >= owner.Limit {
		return 0, ErrTooMany
	}
	return 0, ErrDescriptionExists
}

// afterError ends a creation whose transaction failed. An attempt without a response may have been written, or may still be. So afterError
// moves the counter alone: then the attempt can no longer be written. If the counter has moved already, the item with this id is final, and
// either p or another creation's token. At worst, an id remains unused.
func (s *Store) afterError(ctx context.Context, p PAT, cause error) (int64, error) {
	if !dynamo.ResultUnknown(cause) {
		return 0, cause
	}
	moving, cancel := cleanUp(ctx)
	defer cancel()
	var failures []dynamo.Failure
	err := persist(moving, func() (err error) {
		failures, err = dynamo.Transact(moving, s.client, []types.TransactWriteItem{s.takeID(p.ID)})
		return err
	})
	if err == nil && failures == nil {
		return 0, cause
	}
	own, lookErr := s.isStored(ctx, p)
	if own {
		return p.ID, nil
	}
	return 0, errors.Join(cause, err, lookErr)
}

// isStored reports whether the token that is stored under p's id has p's verifier.
func (s *Store) isStored(ctx context.Context, p PAT) (bool, error) {
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	var item dynamo.Item
	err := persist(ctx, func() (err error) {
		item, err = dynamo.Get(ctx, s.client, s.pats, Key(p.UserID, p.ID))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for the PAT that may have been written: %w", err)
	}
	return p.Verifier.Equal(item.Bytes("verifier")), nil
}

// persist repeats a call until DynamoDB has responded or ctx ends: the creation may have used up the client's retry quota.
func persist(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if !errors.Is(err, dynamo.ErrUnavailable) || dynamo.Pause(ctx, attempt) != nil {
			return err
		}
	}
}

// cleanUp returns a context that ends cleanUpTime after ctx.
func cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(cleanUpTime, cancel) })
	return longer, func() { stop(); cancel() }
}
