package database

import (
	"crypto/rand"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/app"
)

// Env returns the environment of a function that uses the tables. The caller can add variables.
func (db *Database) Env(tb testing.TB) *app.Env {
	tb.Helper()
	vars := map[string]string{"DYNAMODB_ENDPOINT": db.Endpoint, "EVENT_LOG_DAYS": "400"}
	for id, name := range db.Tables.ByID() {
		vars[strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(id, "${1}_${2}"))+"_TABLE"] = name
	}
	return &app.Env{
		Vars: vars, AWS: config(newTransport(tb, db.Endpoint)), Now: time.Now, Random: rand.Reader,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// RequireVariables checks that construct succeeds in env and that, if any one of the variables is missing, it returns
// an error that names the variable.
func RequireVariables(tb testing.TB, env *app.Env, construct app.Constructor, variables ...string) {
	tb.Helper()
	if _, err := construct(env); err != nil {
		tb.Errorf("construct the function: %v", err)
	}
	for _, name := range variables {
		without := *env
		without.Vars = maps.Clone(env.Vars)
		delete(without.Vars, name)
		if _, err := construct(&without); err == nil || !strings.Contains(err.Error(), name) {
			tb.Errorf("without %s the error is %v", name, err)
		}
	}
}
