package feedback_test

import (
	"context"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// operations returns the operation of a store and of the accounts.
func operations(store *feedback.Store, users *user.Store) operation.Set {
	return operation.Set{
		Parameters: []string{"id"},
		Handlers:   map[string]lambdahttp.HandlerFunc{"update": feedback.Update(store, users)},
	}
}

// The callers of the operation.
var (
	viewer = access.UserPrincipal(1, access.RoleViewer)
	admin  = access.UserPrincipal(2, access.RoleAdmin)
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	client, tap := db.Through(t, nil)
	users := user.NewStore(client, db.Tables, db.LogThrough(client))
	for id := range int64(3) {
		assert.OK(t, users.Create(t.Context(), user.User{ID: id + 1, Kind: user.Person, Disabled: true}))
	}
	h := operations(feedback.NewStore(client, db.Tables), users)
	const (
		given   = `"given":"2026-11-20T05:39:00.123Z","feedbackId":"survey"}`
		noGiven = `"given":null,"feedbackId":"survey"}`
		user    = "400 ValidationError: The `/body/userId` property must be your own id or, with the \"ADMIN\" permission, " +
			"the id of an existing user; you sent "
	)
	for _, test := range []struct {
		caller access.Principal
		body   string
		want   string
		calls  string // of DynamoDB
	}{
		{viewer, `{}`, `200 {"userId":1,"neverShow":false,` + noGiven, "UpdateItem"},
		{
			viewer, `{"neverShow":true,"given":"2026-11-20T06:39:00.1239+01:00"}`,
			`200 {"userId":1,"neverShow":true,` + given, "UpdateItem",
		},
		{viewer, `{"feedbackId":"x"}`, `200 {"userId":1,"neverShow":true,` + given, "UpdateItem"}, // it is ignored
		{viewer, `{"neverShow":false}`, `200 {"userId":1,"neverShow":false,` + given, "UpdateItem"},
		{viewer, `{"given":null}`, `200 {"userId":1,"neverShow":false,` + noGiven, "UpdateItem"},
		{viewer, `{"userId":1}`, `200 {"userId":1,"neverShow":false,` + noGiven, "UpdateItem"},
		{admin, `{"userId":2}`, `200 {"userId":2,"neverShow":false,` + noGiven, "UpdateItem"},
		{admin, `{"userId":3,"neverShow":true}`, `200 {"userId":3,"neverShow":true,` + noGiven, "GetItem UpdateItem"},
		{viewer, `{"userId":3}`, user + "3.", ""},
		{admin, `{"userId":4}`, user + "4.", "GetItem"},
		{admin, `{"userId":0}`, user + "0.", "GetItem"},
		{admin, `{"userId":18446744073709551618}`, user + "18446744073709551618.", "GetItem"},
	} {
		before := len(tap.Calls())
		h.Expect(access.WithPrincipal(t.Context(), test.caller), t, "update", "survey", test.body, test.want)
		assert.Equal(t, test.calls, strings.TrimSpace(tap.Calls()[before:]))
	}
}

func TestUpdateRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	client, tap := db.Through(t, nil)
	h := operations(feedback.NewStore(client, db.Tables), user.NewStore(client, db.Tables, nil))
	ctx := access.WithPrincipal(t.Context(), viewer)
	const badID = "The `/params/id` property must be UTF-8, percent-encoded and at most 255 characters long; " +
		"you sent \"%FF\"."
	for _, test := range []struct{ id, body, message string }{
		{"survey", `{"userId":null}`, "The `/body/userId` property must be an integer; you sent null."},
		{"survey", `{"neverShow":null}`, "The `/body/neverShow` property must be a boolean; you sent null."},
		{
			"survey", `{"given":"2026-11-20"}`,
			"The `/body/given` property must be an RFC 3339 date-time with an offset or Z; you sent \"2026-11-20\".",
		},
		{"%FF", `{}`, badID},
		{
			"a\x00", `{}`,
			"The `/params/id` property must have no control characters except tabs and line breaks; you sent \"a\\x00\".",
		},
		{
			"%FF", `{"neverShow":1,"userId":3}`,
			"The `/body/neverShow` property must be a boolean; you sent 1. " + badID +
				" The `/body/userId` property must be your own id or, with the \"ADMIN\" permission, " +
				"the id of an existing user; you sent 3.",
		},
	} {
		h.Expect(ctx, t, "update", test.id, test.body, "400 ValidationError: "+test.message)
	}
	assert.Equal(t, "", tap.Calls())
}

// The preconditions of an update decide whether it may create a record or change one. A record has no entity tag.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	h := operations(feedback.NewStore(db.Client, db.Tables), user.NewStore(db.Client, db.Tables, db.Log()))
	ctx := access.WithPrincipal(t.Context(), viewer)
	const (
		shown = `200 {"userId":1,"neverShow":false,"given":null,"feedbackId":"a"}`
		never = `200 {"userId":1,"neverShow":true,"given":null,"feedbackId":"a"}`
	)
	h.With("If-Match", "*").Expect(ctx, t, "update", "a", `{"neverShow":true}`,
		"412 PreconditionFailed: The resource does not exist, so it cannot match `If-Match`.")
	h.With("If-None-Match", "*").Expect(ctx, t, "update", "a", `{}`, shown)
	h.With("If-None-Match", "*").Expect(ctx, t, "update", "a", `{"neverShow":true}`,
		"412 PreconditionFailed: The resource exists and matches `If-None-Match`.")
	h.With("If-Match", `"old"`).Expect(ctx, t, "update", "a", `{"neverShow":true}`,
		"412 PreconditionFailed: The resource has no entity tag, so only `*` matches it in `If-Match`.")
	h.Expect(ctx, t, "update", "a", `{}`, shown)
	h.With("If-Match", "*").Expect(ctx, t, "update", "a", `{"neverShow":true}`, never)
}

func TestUpdateFails(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	h := operations(feedback.NewStore(db.Client, db.Tables), user.NewStore(db.Client, db.Tables, db.Log()))
	ctx, cancel := context.WithCancel(access.WithPrincipal(t.Context(), admin))
	cancel()
	h.ExpectStatus(ctx, t, "update", "survey", `{}`, 503)
	h.ExpectStatus(ctx, t, "update", "survey", `{"userId":3}`, 503)
}
