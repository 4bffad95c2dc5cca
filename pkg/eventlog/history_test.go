package eventlog_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// The index of subjects lags: a revocation of the last hour is found all the same, so that a restored token does not
// stay valid.
func TestAboutWhileTheIndexLags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	change := func(kind eventlog.Type, subject eventlog.Subject) {
		f.record(t.Context(), t, eventlog.Change{Type: kind, Subject: subject})
	}
	change(eventlog.PATCreated, "pat:2")
	change(eventlog.PATCreated, "pat:1")
	change(eventlog.PATDeleted, "pat:1")
	f.now = f.now.Add(time.Hour)
	change(eventlog.PATDeleted, "pat:3")
	f.now = f.now.Add(time.Minute)
	change(eventlog.PATDeleted, "pat:1") // it was restored in between
	change(eventlog.PATDeleted, "pat:2")
	lags := false
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if lags && c.Operation == "Query" && strings.Contains(c.Body, "IndexName") {
			return c.Reply(http.StatusOK, `{"Count":0,"Items":[],"ScannedCount":0}`)
		}
		return c.Pass()
	})
	reader := eventlog.NewReader(eventlog.New(client, f.Tables, func() time.Time { return f.now }, 400))
	about := func(some ...eventlog.Type) (found []string) {
		assert.OK(t, reader.About(t.Context(), []eventlog.Subject{"pat:1", "pat:2"}, some, func(e eventlog.Event) error {
			found = append(found, string(e.Type)+" "+string(e.Subject)+" "+e.CreatedAt().Format("15:04"))
			return nil
		}))
		return found
	}
	assert.Equal(t, []string{
		"pat-created pat:2 10:00", "pat-created pat:1 10:00", "pat-deleted pat:1 10:00",
		"pat-deleted pat:1 11:01", "pat-deleted pat:2 11:01",
	}, about())
	lags = true
	assert.Equal(t, []string{"pat-deleted pat:1 11:01", "pat-deleted pat:2 11:01"}, about(eventlog.PATDeleted))
}
