package eventlog_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func start() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }

// fixture is a log whose clock can be set.
type fixture struct {
	*database.Database
	*eventlog.Log
	*eventlog.Reader
	now time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Database: database.New(tb), now: start()}
	f.Log = eventlog.New(f.Database.Client, f.Tables, func() time.Time { return f.now }, 400)
	f.Reader = eventlog.NewReader(f.Log)
	return f
}

// try appends the event of a change in a transaction with further actions.
func (f *fixture) try(ctx context.Context, c eventlog.Change,
	further ...func(eventlog.Subject, int64) []types.TransactWriteItem) (id int64, failures []dynamo.Failure, err error) {
	failures, err = f.Transact(ctx, func() (actions []types.TransactWriteItem, err error) {
		id, actions, err = f.RecordActions(ctx, c)
		for _, more := range further {
			actions = append(actions, more(c.Subject, id)...)
		}
		return actions, err
	})
	return id, failures, err
}

// record appends the event of a change and returns its id.
func (f *fixture) record(ctx context.Context, tb testing.TB, c eventlog.Change) int64 {
	tb.Helper()
	id, failures, err := f.try(ctx, c)
	if err != nil || failures != nil {
		tb.Fatal(failures, err)
	}
	return id
}

func created(name string) eventlog.Change {
	return eventlog.Change{
		Type: eventlog.FeatureCreated, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Project: "default",
		Data: map[string]any{"name": name},
	}
}

// TestIDsRise checks that ids rise within a process and above the subject's last event, even if the clock does not.
func TestIDsRise(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.record(t.Context(), t, created("a"))
	f.now = f.now.Add(-time.Hour)
	c := created("b")
	if second := f.record(t.Context(), t, c); second <= first || second >= 1<<53 {
		t.Errorf("%d after %d", second, first)
	}
	c.Last = 4e15
	ahead := f.record(t.Context(), t, c)
	if other := f.record(t.Context(), t, c); ahead <= c.Last || ahead == other {
		t.Errorf("%d and %d after %d", ahead, other, c.Last)
	}
	f.now = f.now.Add(2 * time.Hour)
	// an event after one that is ahead of the clock, and after the subject's recent one
	c.Last = eventlog.FirstID(f.now.Add(-time.Millisecond))
	assert.Equal(t, f.now, eventlog.TimeOf(f.record(t.Context(), t, c)))
}

// TestEqualIDs checks that an event gets another id if another process has issued the same one.
func TestEqualIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.record(t.Context(), t, created("a"))
	f.Log = eventlog.New(f.Database.Client, f.Tables, start, 0)
	if second := f.record(t.Context(), t, created("a")); second <= first {
		t.Errorf("%d after %d", second, first)
	}
}

// TestDelayedTransaction checks that a transaction that was refused, although its first attempt got no response, is not
// carried out when that attempt arrives later, and that one that was carried out succeeds even if the engine has
// forgotten it.
func TestDelayedTransaction(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]bool{"later": false, "at once": true, "later, and not prevented": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			token, taken := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`), dynamo.Item{"id": dynamo.S("taken")}
			var first *database.Call
			refused := name == "later, and not prevented"
			client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "PutItem" && refused {
					return c.Refuse("ValidationException")
				}
				if c.Operation != "TransactWriteItems" || c.N > 2 {
					return c.Pass()
				}
				if c.N == 1 {
					if first = c; arrives {
						return c.Lose()
					}
					return nil, io.ErrUnexpectedEOF
				}
				if c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"other"`); !arrives {
					f.Put(t, f.Tables["ApiTokens"], taken)
				}
				return c.Pass()
			})
			f.Log = eventlog.New(client, f.Tables, start, 0)
			_, failures, err := f.try(t.Context(), created("a"), func(eventlog.Subject, int64) []types.TransactWriteItem {
				return []types.TransactWriteItem{dynamo.NewItem(f.Tables["ApiTokens"], "id", taken)}
			})
			if refused {
				if !dynamo.ResultUnknown(err) {
					t.Error(err)
				}
				return
			}
			if err != nil || (failures == nil) != arrives {
				t.Fatal(failures, err)
			}
			if arrives {
				assert.Equal(t, 1, len(f.Events(t)))
				return
			}
			f.Delete(t, f.Tables["ApiTokens"], taken)
			response, err := first.Pass()
			assert.OK(t, err)
			if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusBadRequest {
				t.Error("the first attempt was carried out", err)
			}
			if items := f.Scan(t, f.Tables["Events"]); len(items) != 1 || items[0].Int("expiresAt") != start().AddDate(0, 0,
				2).Unix() {
				t.Error(items)
			}
			page, err := f.Search(t.Context(), eventlog.Filter{}, eventlog.Cursor{}, 1)
			assert.OK(t, err)
			assert.Equal(t, eventlog.Page{TotalExact: true}, page)
			assert.Equal(t, 0, len(f.Events(t)))
		})
	}
}

// TestDeletedSubject checks that the events of a subject rise if it is deleted and created again by a process whose
// clock is behind.
func TestDeletedSubject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	deleted := eventlog.Change{Type: eventlog.FeatureDeleted, Subject: "toggle:a"}
	last, _, err := f.try(t.Context(), deleted,
		func(s eventlog.Subject, id int64) []types.TransactWriteItem { return f.PutMarkerActions(s, id, "p") })
	assert.OK(t, err)
	f.Log = eventlog.New(f.Database.Client, f.Tables, func() time.Time { return start().Add(-time.Second) }, 0)
	c := created("a")
	_, failures, err := f.try(t.Context(), c, f.CheckMarkerActions)
	if err != nil || len(failures) != 2 || eventlog.LastInMarker(failures[1]) != last {
		t.Fatalf("%v, %v, last %d", failures, err, last)
	}
	c.Last = last
	if _, failures, err = f.try(t.Context(), c, f.CheckMarkerActions); err != nil || failures != nil {
		t.Error("not created after the last event", failures, err)
	}
	page, err := f.Search(t.Context(), eventlog.Filter{}, eventlog.Cursor{}, 50)
	if err != nil || page.Total != 2 || len(f.Events(t)) != 2 {
		t.Error("the marker of the deleted toggle is an event:", page, err)
	}
}
