package memory

import (
	"context"
	"maps"
	"slices"

	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/user"
)

// Users is the table of that name.
type Users struct{ *tables }

var _ feedback.Users = (*Users)(nil)

// Get reads an account, or gives user.ErrNotFound.
func (s *Users) Get(ctx context.Context, id int64) (u user.User, err error) {
	err = s.read(ctx, "Users.Get", func() error {
		found, ok := s.users[id]
		if !ok {
			return user.ErrNotFound
		}
		u = copyUser(found)
		return nil
	})
	return u, err
}

// Exists implements feedback.Users.
func (s *Users) Exists(ctx context.Context, id int64) (exists bool, err error) {
	err = s.read(ctx, "Users.Exists", func() error {
		_, exists = s.users[id]
		return nil
	})
	return exists, err
}

// Create adds an account that is not there yet, without tokens; one that is stays as it is.
func (s *Users) Create(ctx context.Context, u user.User) error {
	return s.write(ctx, "Users.Create", func() error {
		if _, exists := s.users[u.ID]; !exists {
			u.PATs = nil
			s.users[u.ID] = copyUser(u)
		}
		return nil
	})
}

// List reads all accounts, ordered by id.
func (s *Users) List(ctx context.Context) (all []user.User, err error) {
	err = s.read(ctx, "Users.List", func() error {
		all = s.accounts()
		return nil
	})
	return all, err
}

// Add adds an account under the next id, or gives user.ErrEmailExists or user.ErrNameExists.
func (s *Users) Add(ctx context.Context, u user.User) (user.User, error) {
	u.PATs = map[string]int64{}
	err := s.write(ctx, "Users.Add", func() (err error) {
		if u.ID, err = u.Next(s.lastUser, s.accounts()); err != nil {
			return err
		}
		s.lastUser = u.ID
		s.users[u.ID] = copyUser(u)
		return nil
	})
	if err != nil {
		return user.User{}, err
	}
	return u, nil
}

// accounts gives all accounts by id, under the lock.
func (s *Users) accounts() (all []user.User) {
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		all = append(all, copyUser(s.users[id]))
	}
	return all
}

// Delete removes an account, which no store does.
func (s *Users) Delete(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.users, id)
}

// SetDisabled disables or enables an account, or gives user.ErrNotFound.
func (s *Users) SetDisabled(ctx context.Context, id int64, disabled bool) error {
	return s.write(ctx, "Users.SetDisabled", func() error {
		u, ok := s.users[id]
		if !ok {
			return user.ErrNotFound
		}
		u.Disabled = disabled
		s.users[id] = u
		return nil
	})
}

func copyUser(u user.User) user.User {
	u.PATs = copyMap(u.PATs)
	return u
}
