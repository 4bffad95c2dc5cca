package eventsearch_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func start() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }

// fixture is a log whose clock can be set, and its reader.
type fixture struct {
	*database.Database
	*eventlog.Reader
	names *user.Names
	log   *eventlog.Log
	now   time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Database: database.New(tb), now: start()}
	f.log = eventlog.New(f.Client, f.Tables, func() time.Time { return f.now }, 400)
	f.Reader, f.names = eventlog.NewReader(f.log), user.NewNames(f.Client, f.Tables)
	return f
}

// record appends the event of a change and returns its id.
func (f *fixture) record(ctx context.Context, tb testing.TB, c eventlog.Change) (id int64) {
	tb.Helper()
	failures, err := f.log.Transact(ctx, func() (actions []types.TransactWriteItem, err error) {
		id, actions, err = f.log.RecordActions(ctx, c)
		return actions, err
	})
	assert.OK(tb, err)
	if failures != nil {
		tb.Fatal(failures)
	}
	return id
}

// addPeople adds people with these names, with the ids from 1 on.
func (f *fixture) addPeople(tb testing.TB, names ...string) {
	tb.Helper()
	store := user.NewStore(f.Client, f.Tables, eventlog.Discard(f.Client, time.Now))
	for i, name := range names {
		assert.OK(tb, store.Create(tb.Context(), user.User{ID: int64(i + 1), Kind: user.Person, Name: name,
			Role: access.RoleEditor}))
	}
}

func created(name string) eventlog.Change {
	return eventlog.Change{
		Type: eventlog.FeatureCreated, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Project: "default",
		Data: map[string]any{"name": name},
	}
}
