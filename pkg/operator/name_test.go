package operator_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestRemoveName also repeats the removal.
func TestRemoveName(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{true, false} {
		db := database.New(t)
		open := func(clock func() time.Time) *operator.Operator {
			return operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables}, clock, rand.Reader)
		}
		o := open(func() time.Time { return now().Add(time.Hour) })
		ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator root"})
		person, err := o.AddAccount(ctx, user.Person, "Ada", "ada@example.com", access.RoleAdmin)
		assert.OK(t, err)
		_, err = o.AddAccount(eventlog.WithActor(ctx, eventlog.Actor{Name: "Ada", UserID: person.ID}), user.ServiceAccount, "ci", "",
			access.RoleViewer)
		assert.OK(t, err)
		changes := 2
		if !exists {
			changes = 3
			assert.OK(t, o.DeleteAccount(ctx, user.Person, person.ID, true))
		}
		found, err := o.PersonExists(ctx, person.ID)
		assert.OK(t, err)
		assert.Equal(t, exists, found)
		for _, want := range []int{changes, 0} {
			n, err := o.RemoveName(ctx, person.ID)
			assert.OK(t, err)
			assert.Equal(t, want, n)
		}
		if log := strings.Join(db.Events(t), "\n"); strings.Contains(log, "Ada") || strings.Contains(log, "ada@example.com") ||
			strings.Count(log, `user-name-removed user:1 by operator root: {"id":1}`) != 1 {
			t.Error(log)
		}
		if exists { // the removal is one of the person's changes: a later one has a higher id, whatever the clocks
			assert.OK(t, third(open(now).SetRole(ctx, user.Person, person.ID, access.RoleViewer, true)))
			if all := db.Events(t); !strings.HasPrefix(all[len(all)-1], "user-updated user:1 ") {
				t.Error(all)
			}
		}
	}
}

func TestRemoveNameOfNobody(t *testing.T) {
	t.Parallel()
	o := newOperator(database.New(t), installation.Installation{AccountLimit: 1})
	account, err := o.AddAccount(t.Context(), user.ServiceAccount, "ci", "", access.RoleViewer)
	assert.OK(t, err)
	_, machine := o.PersonExists(t.Context(), account.ID)
	_, nobody := o.PersonExists(t.Context(), 9)
	assert.Equal(t, "3 there is no user with the id 1: it is a service account\n3 there is no user with the id 9\n",
		statuses(machine, nobody))
}
