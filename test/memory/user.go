package memory

import (
	"context"

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
