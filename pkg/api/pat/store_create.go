package pat

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/expiry"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Create stores a new token of the account p.UserID under the next id. It returns the stored token, and the token in
// plain text. It ignores p.ID, p.SeenAt and p.Verifier. The stored CreatedAt is p.CreatedAt, or that of the last id if
// it is later: the clocks of two processes differ, by less than an hour.
//
// The kind of its error is, in this order, NoAccess if the last id is access.MaxID, NotFound if there is no such
// account, NoAccess if the account is full and none of its tokens has expired, and NameExists if it has a token with
// the description that has not expired. Then nothing but the counter has changed. An expired token with the description
// or, if the account has the maximum number of tokens, the one that expired first, is deleted in the same transaction,
// which also records its deletion.
//
// Create is one UpdateItem of the counter, or two if the clock is behind, and one transaction without the counter. If
// the account is full or has the description, the transaction fails; a Query and another transaction follow. If a
// transaction gets no response, it is sent again until there is one or the context ends. So a token is stored without its
// secret being returned only if DynamoDB does not respond until then.
func (s *Store) Create(ctx context.Context, p PAT, owner Owner) (PAT, access.Token, error) {
	token, err := access.NewToken(access.PAT, access.Selector{}, s.random)
	if err != nil {
		return PAT{}, access.Token{}, err
	}
	now := datetime.Milliseconds(p.CreatedAt)
	if p.ID, p.CreatedAt, err = s.takeID(ctx, now); err != nil {
		return PAT{}, access.Token{}, err
	}
	p.Verifier, p.ExpiresAt, p.SeenAt = token.Verifier(), datetime.Milliseconds(p.ExpiresAt), nil
	if p, err = s.insert(ctx, p, owner, now); err != nil {
		return PAT{}, access.Token{}, err
	}
	return p, token.At(access.PATSelector(p.UserID, p.ID)), nil
}

// maxClockDifference is the maximum difference of two clocks. A time that is later than that is wrong.
const maxClockDifference = time.Hour

// takeID returns the next id, and the time at which it was taken: now, or the time of the last id if that is later. One
// update moves the counter and its time. If the counter's time is later than now, another update moves the counter
// alone. The time never falls, so the second update needs no condition on it.
//
// The first update also replaces a time that is wrong. Otherwise one process with a fast clock, such as that of an
// operator, would decide the times of all tokens until its time has come.
func (s *Store) takeID(ctx context.Context, now time.Time) (int64, time.Time, error) {
	step := dynamo.Count(s.pats, Key(0, 0), lastID, access.MaxID)
	update, condition := dynamo.Increment(lastID, access.MaxID)
	at := expression.Name(lastCreatedAt)
	taken := expression.Value(datetime.Format(now))
	latest := expression.Value(datetime.Format(now.Add(maxClockDifference)))
	expr := dynamo.Build(expression.NewBuilder().
		WithUpdate(update.Set(at, taken)).
		WithCondition(condition.And(
			expression.Or(at.AttributeNotExists(), at.LessThanEqual(taken), at.GreaterThan(latest)))))
	later := &dynamodb.UpdateItemInput{
		TableName:                 &s.pats,
		Key:                       Key(0, 0),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
		ReturnValues:              types.ReturnValueAllNew,
	}
	out, err := s.client.UpdateItem(ctx, later)
	if dynamo.FailedCondition(err) {
		out, err = s.client.UpdateItem(ctx, step)
	}
	if dynamo.FailedCondition(err) {
		return 0, time.Time{}, apierror.Errorf(apierror.NoAccess, "All ids of tokens, up to %d, are used up.", access.MaxID)
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("take an id for a PAT: %w", err)
	}
	counter := dynamo.Item(out.Attributes)
	return counter.Int(lastID), *counter.Time(lastCreatedAt), nil
}

// insertion is the transaction that creates a token.
type insertion struct {
	*Store
	token   PAT
	owner   Owner
	now     time.Time
	account user.User // the owner, as the last attempt that failed because of it found it
	expired *PAT      // the token that makes room for the new one; nil: the account has room
	actions *dynamo.Actions
}

// insert writes p and returns it with its last event.
func (s *Store) insert(ctx context.Context, p PAT, owner Owner, now time.Time) (PAT, error) {
	i := insertion{Store: s, token: p, owner: owner, now: now}
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) { return i.plan(ctx) },
		func(failures []dynamo.Failure) error { return i.afterFailure(ctx, failures) })
	if err != nil {
		return PAT{}, fmt.Errorf("create a PAT: %w", err)
	}
	return i.token, nil
}

// plan builds the actions, and sets the last event of the token. If the token may expire before the next run finds it,
// its expiry is recorded at once.
func (i *insertion) plan(ctx context.Context) ([]types.TransactWriteItem, error) {
	created, _ := eventTypes(i.owner.Kind)
	p := &i.token
	id, records, err := i.log.RecordActions(ctx, p.change(created, p.eventData(), nil))
	if err != nil {
		return nil, err
	}
	p.LastEvent, p.AnnouncedDays = id, 0
	last, record, err := expiry.RecordNow(ctx, i.log, p.ExpiresAt, i.now, p.expiring(access.LastThreshold))
	if err != nil {
		return nil, err
	}
	if record != nil {
		p.LastEvent, p.AnnouncedDays, records = last, access.LastThreshold, append(records, record...)
	}
	if i.expired != nil {
		deletion, err := i.deletion(ctx, *i.expired, i.owner.Kind)
		if err != nil {
			return nil, err
		}
		records = append(records, deletion...)
	}
	i.actions = &dynamo.Actions{}
	i.actions.Add(actionToken, dynamo.NewItem(i.pats, hash, toItem(*p)))
	i.actions.Add(actionOwner, i.changeAccount())
	i.actions.Add(actionOthers, records...)
	return i.actions.List(), nil
}

// changeAccount returns the action that adds the entry of the token to the map of its owner, and removes that of the
// expired one.
func (i *insertion) changeAccount() types.TransactWriteItem {
	size := expression.Name(user.AttributePATs).Size()
	limit := expression.Value(i.owner.Limit)
	own := entry(i.token)
	update := expression.Set(own, expression.Value(i.token.ID))
	if i.expired == nil {
		return i.changeOwner(i.token, i.owner.Kind, update, own.AttributeNotExists().And(size.LessThan(limit)))
	}
	expired := entry(*i.expired)
	isExpired := expired.Equal(expression.Value(i.expired.ID))
	if i.expired.Description == i.token.Description {
		return i.changeOwner(i.token, i.owner.Kind, update, isExpired.And(size.LessThanEqual(limit)))
	}
	return i.changeOwner(i.token, i.owner.Kind, update.Remove(expired),
		own.AttributeNotExists().And(isExpired, size.Equal(limit)))
}

// afterFailure decides after a failed attempt which token must make room in the next one. It returns an error if the
// account does not allow the token.
func (i *insertion) afterFailure(ctx context.Context, failures []dynamo.Failure) (err error) {
	failed := i.actions.Failed(failures)
	switch {
	case failed[actionOwner].Failed:
		if i.account, err = user.FromItem(failed[actionOwner].Item); err != nil {
			return err
		}
	case failed[actionToken].Failed:
		return fmt.Errorf("the counter of ids is lower than an existing id: user %d has a PAT %d", i.token.UserID,
			i.token.ID)
	} // otherwise the expired token has changed, and is read again
	kind := i.account.Kind
	if kind == "" || i.owner.Kind != AnyKind && kind != i.owner.Kind { // even if its deletion has begun
		return apierror.Errorf(apierror.NotFound, "There is no user with the id %d.", i.token.UserID)
	}
	return i.makeRoom(ctx)
}

// makeRoom chooses the expired token that the next attempt deletes: the one with the description of the new token or, in
// a full account, the one that expired first. The kind of its error is NoAccess if the account is full and none of its
// tokens has expired, and NameExists if the token with the description has not expired. It chooses none if there is room,
// or if the account has changed since the failed attempt.
func (i *insertion) makeRoom(ctx context.Context) error {
	i.expired = nil
	id, taken := i.account.PATs[DescriptionKey(i.token.Description)]
	full := len(i.account.PATs) >= i.owner.Limit
	if !taken && !full {
		return nil
	}
	if len(i.account.PATs) > i.owner.Limit { // the limit was lowered: one token is not enough
		return i.full()
	}
	tokens, err := i.ListOf(ctx, i.token.UserID)
	if err != nil {
		return err
	}
	left := 0 // the number of tokens of the account that exist
	var first, same *PAT
	for n, p := range tokens {
		if i.account.PATs[DescriptionKey(p.Description)] != p.ID {
			continue
		}
		left++
		if !p.Expired(i.now) {
			continue
		}
		if p.ID == id {
			same = &tokens[n]
		}
		if first == nil || p.ExpiresAt.Before(first.ExpiresAt) {
			first = &tokens[n]
		}
	}
	switch {
	case left < len(i.account.PATs): // the account has changed
	case same != nil:
		i.expired = same
	case full && first == nil:
		return i.full()
	case taken:
		return apierror.Taken("/body/description", "The account already has a token with this description.")
	default:
		i.expired = first
	}
	return nil
}

// full returns the error if no token can make room for the new one.
func (i *insertion) full() error {
	if n := len(i.account.PATs) - i.owner.Limit; n > 0 {
		return apierror.Errorf(apierror.NoAccess,
			"The account exceeds the maximum number of tokens (%d), which was lowered. Delete at least %d first.",
			i.owner.Limit, n)
	}
	return apierror.Errorf(apierror.NoAccess, "The account has reached the maximum number of tokens (%d), and none of "+
		"them has expired. Delete one first.", i.owner.Limit)
}
