package user_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// at returns the sign-in of a subject with a verified e-mail address, where unknown people become viewers.
func at(subject, email string) user.SignIn {
	return user.SignIn{
		Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: subject}, Email: email, DefaultRole: auth.RoleViewer,
		Now: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC), Logger: slog.New(slog.DiscardHandler),
	}
}

// TestSignInConcurrently checks that a browser that sends several first requests gets one person, and that all of them succeed.
func TestSignInConcurrently(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	const requests = 32
	var running sync.WaitGroup
	var found [requests]user.User
	for i := range requests {
		running.Go(func() { // each in a process of its own
			u, err := user.NewStore(db.Client, db.Tables).SignIn(t.Context(), at("new", "new@example.com"))
			if found[i] = u; err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	for _, u := range found {
		if u.ID != 1 {
			t.Errorf("found %+v", u)
		}
	}
	if items := db.Scan(t, db.Tables.Users); len(items) != 4 { // counter, person, link and reservation
		t.Errorf("items: %v", items)
	}
}
