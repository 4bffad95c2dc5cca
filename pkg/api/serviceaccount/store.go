package serviceaccount

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// Store reads and writes service accounts with their tokens, in the tables Users, Identifiers and PersonalAccessTokens.
// It is safe for concurrent use.
type Store struct {
	users *user.Store
	pats  *pat.Store
}

// NewStore returns a Store that uses the tables Users, Identifiers and PersonalAccessTokens, and records its
// changes in log. log can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		users: user.NewStore(client, tables, log), pats: pat.NewStore(client, tables, log, nil), // it creates no tokens
	}
}

// List returns all service accounts, ordered by id. It reads both tables at the same time, by one consistent Scan per
// MB each.
func (s *Store) List(ctx context.Context) ([]Account, error) {
	var pats []pat.PAT
	var patsErr error
	var reading sync.WaitGroup
	reading.Go(func() { pats, patsErr = s.pats.List(ctx) })
	users, err := s.users.List(ctx)
	reading.Wait()
	if err != nil {
		return nil, err
	}
	if patsErr != nil {
		return nil, patsErr
	}
	tokens := map[int64][]pat.PAT{}
	for _, p := range pats {
		tokens[p.UserID] = append(tokens[p.UserID], p)
	}
	var all []Account
	for _, u := range users {
		if u.Kind == user.ServiceAccount {
			all = append(all, Account{u, tokens[u.ID]})
		}
	}
	return all, nil
}

// Find returns an error, whose kind is NotFound, if there is no service account with the id. It is a consistent read.
func (s *Store) Find(ctx context.Context, id int64) error {
	_, err := s.users.Find(ctx, user.ServiceAccount, id)
	return err
}

// Update changes a service account. change receives the account; its error ends the update. The kind of its error
// is NotFound if there is none with the id. It is a consistent read, a transaction if something changes, and a Query of the account's tokens.
func (s *Store) Update(ctx context.Context, id int64, change func(*user.User) error) (Account, error) {
	u, err := s.users.Update(ctx, user.ServiceAccount, id, change)
	if err != nil {
		return Account{}, err
	}
	tokens, err := s.pats.ListOf(ctx, id)
	return Account{u, tokens}, err
}

// Delete deletes a service account and its tokens, as pat.Store.DeleteOwner describes it.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.pats.DeleteOwner(ctx, user.ServiceAccount, id, false)
}
