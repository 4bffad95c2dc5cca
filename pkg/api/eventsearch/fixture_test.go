package eventsearch_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func start() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }

// fixture is a log whose clock can be set, and its reader.
type fixture struct {
	*database.Database
	*eventlog.Reader
	log *eventlog.Log
	now time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Database: database.New(tb), now: start()}
	f.log = eventlog.New(f.Client, f.Tables, func() time.Time { return f.now }, 400)
	f.Reader = eventlog.NewReader(f.log)
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

func created(name string) eventlog.Change {
	return eventlog.Change{
		Type: eventlog.FeatureCreated, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Project: "default",
		Data: map[string]any{"name": name},
	}
}
