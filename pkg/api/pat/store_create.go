package pat

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Create stores a new token of the account p.UserID under the next id. It returns the stored token, and the token in
// plain text. It ignores p.ID, p.SeenAt and p.Verifier. The stored CreatedAt is p.CreatedAt, or that of the last id if
// it is later: the clocks of two processes differ.
//
// Create returns ErrNoOwner, ErrTooMany or ErrDescriptionExists, in this order, if the account does not allow the
// token, and ErrNoIDsLeft if the last id is access.MaxID. Then nothing but the counter has changed.
//
// Create is one UpdateItem of the counter, or two if the clock is behind, and one transaction without the counter. If
// the transaction gets no response, it is sent again until there is one or the context ends. So a token is stored
// without its secret being returned only if DynamoDB does not respond until then.
func (s *Store) Create(ctx context.Context, p PAT, owner Owner) (PAT, access.Token, error) {
	token, err := access.NewToken(access.PAT, access.Selector{}, s.random)
	if err != nil {
		return PAT{}, access.Token{}, err
	}
	if p.ID, p.CreatedAt, err = s.takeID(ctx, datetime.Milliseconds(p.CreatedAt)); err != nil {
		return PAT{}, access.Token{}, err
	}
	p.Verifier, p.ExpiresAt, p.SeenAt = token.Verifier(), datetime.Milliseconds(p.ExpiresAt), nil
	if p, err = s.insert(ctx, p, owner); err != nil {
		return PAT{}, access.Token{}, err
	}
	return p, token.At(access.PATSelector(p.UserID, p.ID)), nil
}

// takeID returns the next id, and the time at which it was taken: now, or the time of the last id if that is later. One
// update moves the counter and its time. If the counter's time is later than now, another update moves the counter
// alone. The time never falls, so the second update needs no condition on it.
func (s *Store) takeID(ctx context.Context, now time.Time) (id int64, at time.Time, err error) {
	step := dynamo.Count(s.pats, Key(0, 0), lastID, access.MaxID)
	later := dynamo.Count(s.pats, Key(0, 0), lastID, access.MaxID)
	*later.UpdateExpression += " SET #at = :now"
	*later.ConditionExpression += " AND (attribute_not_exists(#at) OR #at <= :now)"
	later.ExpressionAttributeNames["#at"], later.ExpressionAttributeValues[":now"] = lastCreatedAt, dynamo.Time(now)
	out, err := s.client.UpdateItem(ctx, later)
	if dynamo.FailedCondition(err) {
		out, err = s.client.UpdateItem(ctx, step)
	}
	if dynamo.FailedCondition(err) {
		return 0, time.Time{}, ErrNoIDsLeft
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("take an id for a PAT: %w", err)
	}
	counter := dynamo.Item(out.Attributes)
	return counter.Int(lastID), *counter.Time(lastCreatedAt), nil
}

// ownerAction is the position of the action on the owner in the transaction that creates a token.
const ownerAction = 1

// insert writes p and returns it with its last event. If the token may expire before the next run finds it, its expiry
// is recorded at once.
func (s *Store) insert(ctx context.Context, p PAT, owner Owner) (PAT, error) {
	created, _ := eventTypes(owner.Kind)
	failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, records, err := s.log.Actions(ctx, p.change(created, p.snapshot(), nil))
		if err != nil {
			return nil, err
		}
		p.LastEvent, p.AnnouncedDays = id, 0
		if p.ExpiresAt.Sub(p.CreatedAt) < shortLife {
			p.AnnouncedDays = thresholds[0]
			last, record, err := s.log.Actions(eventlog.WithActor(ctx, eventlog.System), p.expiring(p.AnnouncedDays))
			if err != nil {
				return nil, err
			}
			p.LastEvent, records = last, append(records, record...)
		}
		return append([]types.TransactWriteItem{
			dynamo.NewItem(s.pats, "userId", toItem(p)),
			ownerAction: s.changeOwner(p, owner.Kind, "SET #pats.#key = :id",
				"attribute_not_exists(#pats.#key) AND size(#pats) < :limit", dynamo.Item{":limit": dynamo.N(int64(owner.Limit))}),
		}, records...), nil
	})
	switch {
	case err != nil:
		return PAT{}, fmt.Errorf("create a PAT: %w", err)
	case failures == nil:
		return p, nil
	case !failures[ownerAction].Failed:
		return PAT{}, fmt.Errorf("create a PAT: the counter is behind: user %d has a PAT %d", p.UserID, p.ID)
	}
	account := user.FromItem(failures[ownerAction].Item)
	if account.Kind == "" || owner.Kind != AnyKind && account.Kind != owner.Kind { // even if its deletion has begun
		return PAT{}, ErrNoOwner
	}
	if len(account.PATs) >= owner.Limit {
		return PAT{}, ErrTooMany
	}
	return PAT{}, ErrDescriptionExists
}
