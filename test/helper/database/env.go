package database

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// Env returns the environment of a function that uses the tables. The caller can add variables.
func (db *Database) Env(tb testing.TB) *app.Env {
	tb.Helper()
	vars := map[string]string{"DYNAMODB_ENDPOINT": db.Endpoint, "EVENT_LOG_DAYS": "400"}
	for id, name := range db.Tables {
		vars[dynamo.Variable(id)] = name
	}
	return &app.Env{
		Vars: vars, AWS: config(db.newTransport(tb)), Now: time.Now, Random: rand.Reader,
		Logger: slog.New(slog.DiscardHandler),
	}
}
