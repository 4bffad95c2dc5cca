package operator_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestRemoveName interrupts the removal of a name at each of its writes, and repeats it.
func TestRemoveName(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{true, false} {
		for writes := range 4 {
			db := database.New(t)
			ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator root"})
			o := operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables, AccountLimit: 9}, time.Now,
				rand.Reader)
			ada, err := o.AddAccount(ctx, user.Person, "Ada", "ada@example.com", "Admin")
			assert.OK(t, err)
			byAda := eventlog.WithActor(ctx, eventlog.Actor{Name: "Ada", UserID: ada.ID, TokenID: "3"})
			if _, err := o.AddAccount(byAda, user.Person, "Eve", "eve@example.com", "Viewer"); err != nil {
				t.Fatal(err)
			}
			if !exists {
				assert.OK(t, o.DeleteAccount(ctx, user.Person, ada.ID))
			}
			client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "UpdateItem" && c.N == writes {
					return c.Refuse("ValidationException")
				}
				return c.Pass()
			})
			interrupted := operator.New(&installation.Installation{Client: client, Tables: db.Tables}, time.Now, rand.Reader)
			_, err = interrupted.RemoveName(ctx, ada.ID)
			changes := map[bool]int{true: 2, false: 3}[exists]
			if refused := writes > 0 && writes <= changes; (err != nil) != refused {
				t.Errorf("refused: %t, %v", refused, err)
			}
			if got, err := o.PersonToForget(ctx, ada.ID); got != exists || err != nil {
				t.Error(got, err)
			}
			// those that the interruption left, then none
			for _, want := range []int{max(0, changes+1-writes) * min(writes, 1), 0} {
				if n, err := o.RemoveName(ctx, ada.ID); n != want || err != nil {
					t.Errorf("exists: %t, interrupted at write %d: %d events, %v, want %d", exists, writes, n, err, want)
				}
			}
			log := strings.Join(db.Events(t), "\n")
			if strings.Contains(strings.ToLower(log), "ada") || !strings.Contains(log, "Eve") ||
				!strings.Contains(log, "by operator root") ||
				!strings.Contains(log, "user-created user:2 by user:1, user 1, token 3: ") ||
				!strings.Contains(log, `"email":"user:1"`) {
				t.Error(log)
			}
			if n := strings.Count(log, "user-name-removed user:1 by operator root: {\"id\":1}"); n == 0 || n > 2 ||
				writes == 0 && n != 1 {
				t.Errorf("%d records of the removal", n)
			}
			if exists { // the removal is one of the person's changes: a later one has a higher id, whatever the clocks
				behind := operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables}, now, rand.Reader)
				if _, _, err := behind.SetRole(ctx, user.Person, ada.ID, "Viewer"); err != nil {
					t.Error(err)
				}
				if all := db.Events(t); !strings.HasPrefix(all[len(all)-1], "user-updated user:1 ") {
					t.Error(all)
				}
			}
		}
	}
}

func TestRemoveNameOfNobody(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	o := operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables, AccountLimit: 1}, time.Now,
		rand.Reader)
	account, err := o.AddAccount(t.Context(), user.ServiceAccount, "ci", "", "Viewer")
	assert.OK(t, err)
	for _, id := range []int64{account.ID, 9} {
		if _, err := o.PersonToForget(t.Context(), id); exitstatus.Of(err) != exitstatus.NotFound {
			t.Errorf("%d: %v", id, err)
		}
	}
}
