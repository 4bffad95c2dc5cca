package trust

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the trusts in the table Access. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	access *accesstable.Reader
	users  *user.Store
	log    *eventlog.Log
}

// NewStore returns a Store on the tables Access and Users that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client: client,
		table:  tables[accesstable.Table],
		access: accesstable.NewReader(client, tables),
		users:  user.NewStore(client, tables, nil),
		log:    log,
	}
}

// record is the item of a trust.
type record struct {
	Kind        accesstable.Kind  `dynamodbav:"kind"`
	Key         string            `dynamodbav:"id"`
	ID          int64             `dynamodbav:"trust"`
	AccountID   int64             `dynamodbav:"account"`
	Description string            `dynamodbav:"description"`
	Issuer      string            `dynamodbav:"issuer"`
	Audience    string            `dynamodbav:"audience"`
	Claims      map[string]string `dynamodbav:"claims"`
	AnyRef      bool              `dynamodbav:"anyRef,omitempty"`
	CreatedAt   time.Time         `dynamodbav:"createdAt"`
	LastEvent   int64             `dynamodbav:"event,omitempty"`
}

// prefix returns how the sort keys of the trusts in an issuer begin. An issuer can have every character, so it is hashed.
func prefix(issuer string) string {
	sum := sha256.Sum256([]byte(issuer))
	return hex.EncodeToString(sum[:16]) + "#"
}

// sortKey returns the sort key of a trust.
func (t Trust) sortKey() string { return prefix(t.Issuer) + strconv.FormatInt(t.ID, 10) }

func toItem(t Trust) dynamo.Item {
	return dynamo.Marshal(record{
		Kind: accesstable.KindTrust, Key: t.sortKey(), ID: t.ID, AccountID: t.AccountID, Description: t.Description,
		Issuer: t.Issuer, Audience: t.Audience, Claims: t.Claims, AnyRef: t.AnyRef, CreatedAt: t.CreatedAt,
		LastEvent: t.LastEvent,
	})
}

// FromItem returns the trust that an item contains. It is an error if a part is missing that decides which tokens the trust
// accepts. It reads the attributes one by one, because the decoder of the SDK takes four times as long, and each request of
// a pipeline reads all trusts in its issuer.
func FromItem(item dynamo.Item) (Trust, error) {
	t := Trust{
		ID: item.Int("trust"), AccountID: item.Int("account"), Description: item.String("description"),
		Issuer: item.String("issuer"), Audience: item.String("audience"), Claims: map[string]string{}, AnyRef: item.Bool("anyRef"),
		LastEvent: item.Int("event"),
	}
	if created := item.Time("createdAt"); created != nil {
		t.CreatedAt = *created
	}
	complete := t.AccountID != 0 && t.Issuer != "" && t.Audience != ""
	claims := item.Map("claims")
	for name := range claims {
		t.Claims[name] = claims.String(name)
		complete = complete && t.Claims[name] != ""
	}
	if !complete || len(claims) == 0 {
		return Trust{}, fmt.Errorf("the item of the trust %d is incomplete", t.ID)
	}
	return t, nil
}

// OfIssuer returns the trusts in an issuer, ordered by id. It is one consistent Query per MB.
func (s *Store) OfIssuer(ctx context.Context, issuer string) ([]Trust, error) {
	return s.query(ctx, ofKind().And(expression.Key(accesstable.Range).BeginsWith(prefix(issuer))))
}

// ListOf returns the trusts of an account, ordered by id. It reads all trusts.
func (s *Store) ListOf(ctx context.Context, account int64) ([]Trust, error) {
	all, err := s.list(ctx)
	return slices.DeleteFunc(all, func(t Trust) bool { return t.AccountID != account }), err
}

// list returns all trusts, ordered by id.
func (s *Store) list(ctx context.Context) ([]Trust, error) { return s.query(ctx, ofKind()) }

func ofKind() expression.KeyConditionBuilder {
	return expression.Key(accesstable.Hash).Equal(expression.Value(accesstable.KindTrust))
}

func (s *Store) query(ctx context.Context, keys expression.KeyConditionBuilder) ([]Trust, error) {
	var all []Trust
	for item, err := range dynamo.QueryWhere(ctx, s.client, s.table, keys) {
		if err != nil {
			return nil, fmt.Errorf("list trusts: %w", err)
		}
		t, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("list trusts: %w", err)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Trust) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// The names of the actions of a transaction.
const (
	actionTrust   = "trust"
	actionAccount = "account"
	actionCounter = "counter"
	actionEvent   = "event"
)

// Create adds a trust of a service account, and returns it with its id. The kind of its error is, in this order, NotFound
// if there is no such account, NameExists if a trust accepts the same tokens, or NoAccess if a limit is reached. It reads
// all trusts. The transaction uses the id after theirs, so it fails if another one was added in the meantime.
func (s *Store) Create(ctx context.Context, next Trust) (Trust, error) {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		id, counter, err := s.access.NextID(ctx, accesstable.KindTrust) // before the list
		if err != nil {
			return nil, err
		}
		if _, err := s.users.Find(ctx, user.ServiceAccount, next.AccountID); err != nil {
			return nil, err
		}
		all, err := s.list(ctx)
		if err != nil {
			return nil, err
		}
		if err := checkRoom(all, next); err != nil {
			return nil, err
		}
		next.ID, next.LastEvent = id, 0
		event, record, err := s.log.RecordActions(ctx, eventlog.Change{Type: eventlog.ServiceAccountTrustCreated,
			Subject: next.Subject(), Data: next.eventData()})
		if err != nil {
			return nil, err
		}
		next.LastEvent = event
		var actions dynamo.Actions
		actions.Add(actionCounter, counter)
		actions.Add(actionAccount, s.users.ExistsAs(user.ServiceAccount, next.AccountID))
		actions.Add(actionTrust, dynamo.NewItem(s.table, accesstable.Hash, toItem(next)))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, nil)
	if err != nil {
		return Trust{}, fmt.Errorf("create a trust of user %d: %w", next.AccountID, err)
	}
	return next, nil
}

// checkRoom returns an error if the other trusts do not allow one more.
func checkRoom(all []Trust, next Trust) error {
	own := 0
	for _, t := range all {
		if t.same(next) {
			whose := "Another service account"
			if t.AccountID == next.AccountID {
				whose = "The service account"
			}
			return apierror.Taken("/body/claims", "%s has a trust with this issuer, audience and claims.", whose)
		}
		if t.AccountID == next.AccountID {
			own++
		}
	}
	if own >= MaxPerAccount {
		return apierror.Errorf(apierror.NoAccess, "The service account has reached the maximum number of trusts (%d). "+
			"Delete one first.", MaxPerAccount)
	}
	if len(all) >= maxInstallation {
		return apierror.Errorf(apierror.NoAccess, "All service accounts together have reached the maximum number of trusts "+
			"(%d). Delete one first.", maxInstallation)
	}
	return nil
}

// Delete deletes a trust of an account. From then on its tokens are rejected. The kind of its error is NotFound.
func (s *Store) Delete(ctx context.Context, account, id int64) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		t, err := s.Find(ctx, account, id)
		if err != nil {
			return nil, err
		}
		return s.deletion(ctx, t)
	}, nil)
	if err != nil {
		return fmt.Errorf("delete trust %d: %w", id, err)
	}
	return nil
}

// Find returns a trust of an account. The kind of its error is NotFound.
func (s *Store) Find(ctx context.Context, account, id int64) (Trust, error) {
	all, err := s.ListOf(ctx, account)
	if err != nil {
		return Trust{}, err
	}
	i := slices.IndexFunc(all, func(t Trust) bool { return t.ID == id })
	if i < 0 {
		return Trust{}, apierror.Errorf(apierror.NotFound, "The user %d has no trust with the id %d.", account, id)
	}
	return all[i], nil
}

// RemoveAccount deletes all trusts of an account whose deletion has begun, so that none is added.
func (s *Store) RemoveAccount(ctx context.Context, account int64) error {
	err := s.log.RetryTransact(ctx, func() (actions []types.TransactWriteItem, err error) {
		all, err := s.ListOf(ctx, account)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			deletion, err := s.deletion(ctx, t)
			if err != nil {
				return nil, err
			}
			actions = append(actions, deletion...)
		}
		return actions, nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete the trusts of user %d: %w", account, err)
	}
	return nil
}

// deletion returns the actions that delete a trust that has not changed, and record it.
func (s *Store) deletion(ctx context.Context, t Trust) ([]types.TransactWriteItem, error) {
	_, record, err := s.log.RecordActions(ctx, eventlog.Change{Type: eventlog.ServiceAccountTrustDeleted,
		Subject: t.Subject(), Last: t.LastEvent, PreData: t.eventData()})
	deletion := dynamo.DeleteItem(s.table, accesstable.Key(accesstable.KindTrust, t.sortKey()),
		eventlog.ExistsWithLast(accesstable.Hash, t.LastEvent))
	return append([]types.TransactWriteItem{deletion}, record...), err
}

// deleteUnowned deletes a trust without an account. If the trust changes at the same time, it does nothing.
func (s *Store) deleteUnowned(ctx context.Context, t Trust) error {
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) { return s.deletion(ctx, t) })
	if err != nil {
		return fmt.Errorf("delete trust %d: %w", t.ID, err)
	}
	return nil
}
