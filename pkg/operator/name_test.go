package operator_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
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
			open := func(client *dynamodb.Client, clock func() time.Time) *operator.Operator {
				return operator.New(&installation.Installation{Client: client, Tables: db.Tables}, clock, rand.Reader)
			}
			later := func() time.Time { return now().Add(time.Hour) }
			ctx, o := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator root"}), open(db.Client, later)
			person, err := o.AddAccount(ctx, user.Person, "Ada", "ada@example.com", "Admin")
			assert.OK(t, err)
			_, err = o.AddAccount(eventlog.WithActor(ctx, eventlog.Actor{Name: "Ada", UserID: person.ID, TokenID: "3"}), user.Person,
				"Eve", "eve@example.com", "Viewer")
			assert.OK(t, err)
			changes := 2
			if !exists {
				changes = 3
				assert.OK(t, o.DeleteAccount(ctx, user.Person, person.ID))
			}
			client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "UpdateItem" && c.N == writes {
					return c.Refuse("ValidationException")
				}
				return c.Pass()
			})
			_, err = open(client, later).RemoveName(ctx, person.ID)
			assert.Equal(t, writes > 0 && writes <= changes, err != nil)
			found, err := o.PersonToForget(ctx, person.ID)
			assert.OK(t, err)
			assert.Equal(t, exists, found)
			// those that the interruption left, then none
			for _, want := range []int{max(0, changes+1-writes) * min(writes, 1), 0} {
				if n, err := o.RemoveName(ctx, person.ID); n != want || err != nil {
					t.Errorf("exists: %t, interrupted at write %d: %d events, %v, want %d", exists, writes, n, err, want)
				}
			}
			log := db.Events(t)
			if n := strings.Count(fmt.Sprint(log), "user-name-removed "); n > 2 || writes == 0 && n > 1 {
				t.Errorf("%d records of the removal", n)
			}
			slices.Sort(log)
			const ada = `{"createdAt":"2026-11-21T11:00:00.000Z","disabled":false,"email":"user:1","id":1,"identity":null,` +
				`"name":"user:1","rootRole":{"id":1,"name":"Admin"}}`
			records := []string{"user-created user:1 by operator root: " + ada,
				`user-created user:2 by user:1, user 1, token 3: {"id":2,"name":"Eve","email":"eve@example.com",` +
					`"rootRole":{"id":3,"name":"Viewer"},"disabled":false,"identity":null,"createdAt":"2026-11-21T11:00:00.000Z"}`,
				"user-deleted user:1 by operator root: before " + ada, `user-name-removed user:1 by operator root: {"id":1}`}
			if exists {
				records = slices.Delete(records, 2, 3)
			}
			assert.Equal(t, records, slices.Compact(log))
			if exists { // the removal is one of the person's changes: a later one has a higher id, whatever the clocks
				assert.OK(t, third(open(db.Client, now).SetRole(ctx, user.Person, person.ID, "Viewer")))
				if all := db.Events(t); !strings.HasPrefix(all[len(all)-1], "user-updated user:1 ") {
					t.Error(all)
				}
			}
		}
	}
}

func TestRemoveNameOfNobody(t *testing.T) {
	t.Parallel()
	o := newOperator(database.New(t), installation.Installation{AccountLimit: 1})
	account, err := o.AddAccount(t.Context(), user.ServiceAccount, "ci", "", "Viewer")
	assert.OK(t, err)
	_, machine := o.PersonToForget(t.Context(), account.ID)
	_, nobody := o.PersonToForget(t.Context(), 9)
	assert.Equal(t, "3 there is no user with the id 1: it is a service account\n3 there is no user with the id 9\n",
		statuses(machine, nobody))
}
