package eventlog_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestRemoveName interrupts the removal of a name at its second write, until one is left.
func TestRemoveName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	data, ada := map[string]any{"name": "Ada", "email": "ada@example.com", "id": 1}, eventlog.Actor{Name: "Ada", UserID: 1}
	f.record(t.Context(), t, eventlog.Change{Type: eventlog.UserCreated, Subject: "user:1", Data: data})
	f.record(eventlog.WithActor(t.Context(), ada), t, created("Ada"))
	f.record(eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Ada", UserID: 2}), t, created("b"))
	f.record(t.Context(), t, eventlog.Change{Type: eventlog.UserDeleted, Subject: "user:1", PreData: data})
	f.record(t.Context(), t, eventlog.Change{Type: eventlog.UserNameRemoved, Subject: "user:1"})
	begun := 0
	removeName := func(beginErr error) string {
		client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if strings.Contains(c.Body, "IndexName") {
				t.Error("the index can lack the newest events: ", c.Body)
			}
			if c.Operation == "UpdateItem" && c.N == 2 {
				return c.Refuse("ValidationException")
			}
			return c.Pass()
		})
		n, err := eventlog.NewReader(eventlog.New(client, f.Tables, start, 0)).RemoveName(t.Context(), 1, func() error { begun++; return beginErr })
		return fmt.Sprint(n, err != nil, begun)
	}
	assert.Equal(t, []string{"0 true 1", "1 true 2", "1 true 3", "1 false 4", "0 false 4"}, []string{
		removeName(errors.New("not recorded")), removeName(nil), removeName(nil), removeName(nil), removeName(nil)})
	const removed = `{"email":"user:1","id":1,"name":"user:1"}`
	assert.Equal(t, []string{"user-created user:1 by system: " + removed,
		`feature-created toggle:Ada by user:1, user 1: {"name":"Ada"}`, `feature-created toggle:b by Ada, user 2: {"name":"b"}`,
		"user-deleted user:1 by system: before " + removed, "user-name-removed user:1 by system:"}, f.Events(t))
}
