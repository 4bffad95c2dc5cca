package serviceaccount

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Store reads and writes service accounts with their tokens, in the tables Users, Identifiers and PersonalAccessTokens. It is safe for
// concurrent use.
type Store struct {
	client    *dynamodb.Client
	patsTable string
	users     *user.Store
	pats      *pat.Store
}

// NewStore returns a Store that uses tables.Users, tables.PersonalAccessTokens and, to delete, tables.Identifiers.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{
		client: client, patsTable: tables.PersonalAccessTokens,
		users: user.NewStore(client, tables), pats: pat.NewStore(client, tables, nil), // it creates no tokens
	}
}

// List returns all service accounts, ordered by id. It reads both tables at the same time, by one consistent Scan per MB each.
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

// Update changes a service account, or returns user.ErrNotFound. It is one UpdateItem, and a Query of the account's tokens.
func (s *Store) Update(ctx context.Context, id int64, change user.Change) (Account, error) {
	u, err := s.users.Update(ctx, id, change)
	if err != nil {
		return Account{}, err
	}
	tokens, err := s.pats.ListOf(ctx, id)
	return Account{u, tokens}, err
}

// perTransaction is the number of tokens that one transaction of a deletion deletes.
const perTransaction = 25

// Delete deletes a service account and its tokens, or returns user.ErrNotFound. After the first call to DynamoDB the account and its tokens
// are unusable. It is one UpdateItem and at least one transaction, each with up to 25 tokens; the last one deletes the account too. After an
// error or a crash, a repeated Delete ends the deletion.
func (s *Store) Delete(ctx context.Context, id int64) error {
	u, err := s.users.BeginDeletion(ctx, id)
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Values(u.PATs)) // all of them: from now on no token is added
	for {
		n := min(len(ids), perTransaction)
		actions := make([]types.TransactWriteItem, 0, n+2)
		for _, token := range ids[:n] {
			// Without a condition: the token may be deleted already, and its id is never used again.
			actions = append(actions, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.patsTable, Key: pat.Key(id, token)}})
		}
		if ids = ids[n:]; len(ids) == 0 {
			actions = append(actions, s.users.EndDeletion(u)...)
		}
		failures, err := dynamo.Transact(ctx, s.client, actions)
		if failures != nil { // another account has the username: keep its reservation
			_, err = dynamo.Transact(ctx, s.client, actions[:len(actions)-1])
		}
		if err != nil {
			return fmt.Errorf("delete service account %d: %w", id, err)
		}
		if len(ids) == 0 {
			return nil
		}
	}
}
