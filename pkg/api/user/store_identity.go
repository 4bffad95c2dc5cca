package user

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// errConcurrent reports that a concurrent call has linked an identity or added a person.
var errConcurrent = errors.New("the person was changed at the same time")

// linkName returns the identifier that links an identity to a person. The link only finds the person. It is valid only
// if the person's item has the identity.
func linkName(i Identity) string { return "identity:" + i.Issuer + " " + i.Subject }

// link returns the action that links an identity to a person. It fails unless the link is as it was read: stale, or nil
// for none. The link contains the id of the event that records it, which distinguishes it from a stale link to the same
// person.
func (s *Store) link(i Identity, id, event int64, stale *identifierRecord) types.TransactWriteItem {
	item := dynamo.Marshal(identifierRecord{Identifier: linkName(i), Account: id, LastEvent: event})
	put := dynamo.NewItem(s.identifiers, hash, item)
	if stale == nil {
		return put
	}
	expr := dynamo.Build(expression.NewBuilder().WithCondition(
		eventlog.ExistsWithLast(hash, stale.LastEvent).
			And(expression.Name(accountID).Equal(expression.Value(stale.Account)))))
	put.Put.ConditionExpression = expr.Condition()
	put.Put.ExpressionAttributeNames = expr.Names()
	put.Put.ExpressionAttributeValues = expr.Values()
	return put
}

// setIdentity returns the actions that change a person's identity, or remove it if next is nil, and record it if it is
// another one, and the person's last event. The first action fails if the person has changed. It names only the
// attributes of the identity and the last event, so that the policy of a role can allow these two alone.
func (s *Store) setIdentity(ctx context.Context, u User, next *Identity) (
	actions []types.TransactWriteItem, event int64, err error,
) {
	changed := u
	changed.Identity = next
	identity := expression.Name(attributeIdentity)
	if next != nil && reflect.DeepEqual(u, changed) { // only the link is missing, because a restore has not ended
		restore := s.update(u.ID, expression.NewBuilder().
			WithCondition(eventlog.ExistsWithLast(hash, u.LastEvent)).
			WithUpdate(expression.Set(identity, expression.Value(identityRecord(*next)))))
		return []types.TransactWriteItem{restore}, u.LastEvent, nil
	}
	event, record, err := s.log.RecordActions(ctx, u.changeTo(changed))
	if err != nil {
		return nil, 0, err
	}
	update := eventlog.SetLast(event)
	if next == nil {
		update = update.Remove(identity)
	} else {
		update = update.Set(identity, expression.Value(identityRecord(*next)))
	}
	change := s.update(u.ID, expression.NewBuilder().
		WithCondition(expression.Name(hash).AttributeExists().And(eventlog.HasLast(u.LastEvent))).
		WithUpdate(update))
	return append([]types.TransactWriteItem{change}, record...), event, nil
}

// personWith returns the person with the id if the identity is theirs. Otherwise the kind of its error is NotFound.
func (s *Store) personWith(ctx context.Context, id int64, identity Identity) (User, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
	if err != nil {
		return User{}, fmt.Errorf("get user %d: %w", id, err)
	}
	return personOf(item, id, identity)
}

// personOf is personWith for the item of the id, which can be nil.
func personOf(item dynamo.Item, id int64, identity Identity) (User, error) {
	if !isAccount(item) {
		return User{}, notFound(Person, id)
	}
	u, err := FromItem(item)
	if err == nil && (u.Kind != Person || u.Identity == nil || *u.Identity != identity) {
		return User{}, notFound(Person, id)
	}
	return u, err
}

// holder returns the person to whom an identity is linked, and the link, even if it is not valid; nil: there is none.
// The kind of its error is NotFound if there is no person.
func (s *Store) holder(ctx context.Context, identity Identity) (u User, link *identifierRecord, err error) {
	link, err = s.accountOf(ctx, linkName(identity))
	if err != nil {
		return User{}, nil, fmt.Errorf("get the link of an identity: %w", err)
	}
	if link == nil {
		return User{}, nil, apierror.New(apierror.NotFound, "No person is linked to the identity.")
	}
	u, err = s.personWith(ctx, link.Account, identity)
	return u, link, err
}

// replaceIdentity returns the actions that link an identity to a person, who may have another one. The link replaces
// a stale one. They fail if a concurrent call has changed the person's identity or linked this one.
func (s *Store) replaceIdentity(ctx context.Context, u User, next Identity, stale *identifierRecord) (
	[]types.TransactWriteItem, error,
) {
	actions, event, err := s.setIdentity(ctx, u, &next)
	if err != nil {
		return nil, err
	}
	actions = append(actions, s.link(next, u.ID, event, stale))
	if u.Identity != nil && *u.Identity != next {
		return s.unlinking(ctx, u, actions)
	}
	return actions, nil
}

// unlinking adds to the actions of a transaction the one that deletes the link of a person's identity, unless it is
// another person's link, because a restore has not ended.
func (s *Store) unlinking(
	ctx context.Context, u User, actions []types.TransactWriteItem,
) ([]types.TransactWriteItem, error) {
	name := linkName(*u.Identity)
	link, err := s.accountOf(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("get the link of an identity: %w", err)
	}
	if link != nil && link.Account != u.ID {
		return actions, nil
	}
	return append(actions, s.release(name, u.ID)), nil
}

// Link links an identity to a person in place of an earlier one, and returns the person as they were before. The kind
// of its error is NotFound if there is no person with the id, and NameExists if the identity is linked to another
// person, whom it returns then.
func (s *Store) Link(ctx context.Context, id int64, identity Identity) (u User, err error) {
	err = s.log.RetryTransact(ctx, func() (_ []types.TransactWriteItem, err error) {
		if u, err = s.Find(ctx, Person, id); err != nil {
			return nil, err
		}
		holder, link, err := s.holder(ctx, identity)
		if err == nil && holder.ID != id {
			u = holder
			return nil, identityExists()
		}
		if err != nil && apierror.KindOf(err) != apierror.NotFound {
			return nil, err
		}
		return s.replaceIdentity(ctx, u, identity, link)
	}, nil)
	if err != nil {
		return u, fmt.Errorf("link user %d: %w", id, err)
	}
	return u, nil
}

// Unlink removes a person's identity and returns the person as they were before, without an identity if there was none
// to remove. The kind of its error is NotFound if there is no person with the id. A person whose e-mail address the
// issuer still verifies is linked again by the next sign-in.
func (s *Store) Unlink(ctx context.Context, id int64) (u User, err error) {
	err = s.log.RetryTransact(ctx, func() (_ []types.TransactWriteItem, err error) {
		if u, err = s.Find(ctx, Person, id); err != nil || u.Identity == nil {
			return nil, err
		}
		actions, _, err := s.setIdentity(ctx, u, nil)
		if err != nil {
			return nil, err
		}
		return s.unlinking(ctx, u, actions)
	}, nil)
	if err != nil {
		return User{}, fmt.Errorf("unlink user %d: %w", id, err)
	}
	return u, nil
}

// maxLinks is the number of identities at which links is emptied.
const maxLinks = 1000

// links caches the account ids of identities, so that a known identity costs one read. The item of the person decides
// whether a link is still valid. The zero value is empty. It is safe for concurrent use.
type links struct {
	mu  sync.Mutex
	ids map[Identity]int64
}

func (l *links) get(i Identity) (id int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok = l.ids[i]
	return id, ok
}

func (l *links) set(i Identity, id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil || len(l.ids) >= maxLinks {
		l.ids = map[Identity]int64{}
	}
	l.ids[i] = id
}
