package feedback_test

import (
	"context"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
	"toggleadmin/test/table"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	client, tap := db.Through(t, nil)
	users := user.NewStore(client, db.Tables, db.LogThrough(client))
	for id := range int64(3) {
		assert.OK(t, users.Create(t.Context(), user.User{ID: id + 1, Kind: user.Person, Disabled: true}))
	}
	handler := feedback.Update(feedback.NewStore(client, db.Tables, now), users)
	all := operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{"update": handler}}
	for _, row := range table.Rows(t, 4, strings.NewReplacer("GIVEN", `"given":"2026-11-20T05:39:00.123Z","feedbackId":"survey"}`,
		"NULL", `"given":null,"feedbackId":"survey"}`, "400 /", "400 ValidationError: The `/body/", "; /", " The `/body/",
		"BAD", "The `/params/id` property must be UTF-8, percent-encoded and at most 255 characters long; you sent \"%FF\".",
		"USER", "userId` property must be your own id or, with the \"ADMIN\" permission, the id of an existing user; you sent",
		"~", "` property").Replace(`
		# caller and ID | body | response | calls
		viewer survey | {} | 200 {"userId":1,"neverShow":false,NULL | UpdateItem
		viewer survey | {"neverShow":true,"given":"2026-11-20T06:39:00.1239+01:00"} | 200 {"userId":1,"neverShow":true,GIVEN | UpdateItem
		# an unknown member
		viewer survey | {"feedbackId":"x"} | 200 {"userId":1,"neverShow":true,GIVEN | UpdateItem
		viewer survey | {"neverShow":false} | 200 {"userId":1,"neverShow":false,GIVEN | UpdateItem
		viewer survey | {"given":null} | 200 {"userId":1,"neverShow":false,NULL | UpdateItem
		viewer survey | {"userId":1} | 200 {"userId":1,"neverShow":false,NULL | UpdateItem
		admin survey | {"userId":2} | 200 {"userId":2,"neverShow":false,NULL | UpdateItem
		admin survey | {"userId":3,"neverShow":true} | 200 {"userId":3,"neverShow":true,NULL | GetItem UpdateItem
		viewer survey | {"userId":3} | 400 /USER 3. |
		admin survey | {"userId":4} | 400 /USER 4. | GetItem
		admin survey | {"userId":0} | 400 /USER 0. | GetItem
		admin survey | {"userId":18446744073709551618} | 400 /USER 18446744073709551618. | GetItem
		viewer survey | {"userId":null} | 400 /userId~ must be an integer; you sent null. |
		viewer survey | {"neverShow":null} | 400 /neverShow~ must be a boolean; you sent null. |
		viewer survey | {"given":"2026-11-20"} | 400 /given~ must be an RFC 3339 date-time with an offset or Z; you sent "2026-11-20". |
		viewer %FF | {} | 400 ValidationError: BAD |
		viewer %FF | {"neverShow":1,"userId":3} | 400 /neverShow~ must be a boolean; you sent 1. BAD; /USER 3. |
	`)) {
		before := len(tap.Calls())
		caller, id, _ := strings.Cut(row[0], " ")
		principal := access.UserPrincipal(1, access.RoleViewer)
		if caller == "admin" {
			principal = access.UserPrincipal(2, access.RoleAdmin)
		}
		all.Want(access.WithPrincipal(t.Context(), principal), t,
			operation.Request{Operation: "update", Path: id, Body: row[1]}, row[2])
		assert.Equal(t, row[3], strings.TrimSpace(tap.Calls()[before:]))
	}
}

// The preconditions of an update decide whether it may create a record or change one. A record has no entity tag.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	handler := feedback.Update(feedback.NewStore(db.Client, db.Tables, now),
		user.NewStore(db.Client, db.Tables, db.Log()))
	h := operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{"update": handler}}
	ctx := access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleViewer))
	h.With("If-Match", "*").Run(ctx, t, `update | a | {"neverShow":true} | 412 PreconditionFailed: The resource does not exist…`)
	h.With("If-None-Match", "*").Run(ctx, t, `update | a | {} | 200 {"userId":1,"neverShow":false,…
		update | a | {"neverShow":true} | 412 PreconditionFailed: The resource exists…`)
	h.With("If-Match", `"old"`).Run(ctx, t, `update | a | {"neverShow":true} | 412 PreconditionFailed: The resource has no entity tag…`)
	h.Run(ctx, t, `update | a | {} | 200 {"userId":1,"neverShow":false,…`)
	h.With("If-Match", "*").Run(ctx, t, `update | a | {"neverShow":true} | 200 {"userId":1,"neverShow":true,…`)
}

func TestUpdateFails(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	handler := feedback.Update(feedback.NewStore(db.Client, db.Tables, now), user.NewStore(db.Client, db.Tables, db.Log()))
	ctx, cancel := context.WithCancel(access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleAdmin)))
	cancel()
	all := operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{"update": handler}}
	all.Run(ctx, t, `
		update | survey | {} | 503 …
		update | survey | {"userId":2} | 503 …
	`)
}
