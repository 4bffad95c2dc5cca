package tagtype_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

func handlers(types *tagtype.Store) operation.Set {
	return operation.Set{Parameters: []string{"name"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list": tagtype.List(types), "get": tagtype.Get(types), "create": tagtype.Create(types),
		"update": tagtype.Update(types), "delete": tagtype.Delete(types), "validate": tagtype.Validate(types),
	}}
}

// The life of a tag type, with the response of each step. The type simple exists from the start.
func TestOperations(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	const (
		simple = `{"name":"simple","description":"A tag without a special meaning","icon":null,"color":null}`
		team   = `{"name":"team","description":"","icon":null,"color":"#5A67D8"}`
	)
	toggles.Expect(t.Context(), t, handlers(tagtype.NewStore(db.Client, db.Tables, db.Log())), []toggles.Call{
		{"list", "", "", `200 {"version":1,"tagTypes":[` + simple + `]}`},
		{"create", "", `{"name":"team","color":"#5A67D8"}`, "201 " + team},
		{"create", "", `{"name":"team"}`, `409 NameExistsError: A tag type with the name "team" exists.`},
		{"create", "", `{"name":"simple"}`, `409 NameExistsError: A tag type with the name "simple" exists.`},
		{"validate", "", `{"name":"area","description":"d"}`,
			`200 {"valid":true,"tagType":{"name":"area","description":"d","icon":null,"color":null}}`},
		{"validate", "", `{"name":"team"}`, `409 NameExistsError: A tag type with the name "team" exists.`},
		{"validate", "", `{"name":"a"}`, "400 ValidationError: The `/body/name` property must have 2 or more characters; " +
			"you sent \"a\"."},
		{"create", "", `{"name":"validate"}`, "400 ValidationError: The `/body/name` property must not be \"validate\", " +
			"which is a path of the API."},
		{"create", "", `{"name":"a:b","color":"red"}`, "400 ValidationError: The `/body/color` property must be # and six " +
			"hexadecimal digits; you sent \"red\". The `/body/name` property must have only the characters " +
			"A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent \"a:b\"."},
		{"get", "team", "", `200 {"version":1,"tagType":` + team + `}`},
		{"get", "simple", "", `200 {"version":1,"tagType":` + simple + `}`},
		{"update", "team", `{"description":"Owners","icon":"T"}`, "200"},
		{"update", "team", `{"description":"Owners"}`, "200"}, // records nothing
		{"update", "simple", `{"color":"#000000"}`, "200"},
		{"update", "simple", `{"color":null}`, "200"},
		{"list", "", "", `200 {"version":1,"tagTypes":[` + simple +
			`,{"name":"team","description":"Owners","icon":"T","color":"#5A67D8"}]}`},
		{"delete", "simple", "", `409 ConflictError: The tag type "simple" cannot be deleted.`},
		{"delete", "team", "", "200"},
		{"delete", "team", "", `404 NotFoundError: There is no tag type with the name "team".`},
		{"update", "team", `{}`, `404 NotFoundError: There is no tag type with the name "team".`},
		{"get", "%FF", "", `404 NotFoundError: There is no tag type with the name "%FF".`},
		{"create", "", `{"name":"team","color":"#5A67D8"}`, "201 " + team},
	})
	assert.Equal(t, []string{"tag-type-created", "tag-type-updated", "tag-type-deleted", "tag-type-created"},
		kinds(database.About(db.Events(t), "tag-type:team")))
}

func always(tagtype.TagType) error { return nil }

// Only one of two changes with the same entity tag succeeds.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	h := handlers(tagtype.NewStore(db.Client, db.Tables, db.Log()))
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"team"}`, 201)
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "get", Path: "team"})
	old := h.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(t.Context(), t, "update", "team", `{"description":"Owners"}`, 200)
	old.ExpectStatus(t.Context(), t, "update", "team", `{"description":"Teams"}`, 412)
	old.ExpectStatus(t.Context(), t, "delete", "team", "", 412)
}

// kinds returns the types of events.
func kinds(events []string) (all []string) {
	for _, e := range events {
		var kind string
		_, _ = fmt.Sscan(e, &kind)
		all = append(all, kind)
	}
	return all
}

// A type that a toggle uses is kept, also if the toggle gets its tag while the type is deleted.
func TestDeleteInUse(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	types := tagtype.NewStore(db.Client, db.Tables, db.Log())
	assert.OK(t, types.Create(t.Context(), tagtype.TagType{Name: "team"}))
	db.Create(t, `{"name":"a"}`)
	tag := func() { db.Update(t, "a", `{"Tags":[{"type":"team","value":"checkout"}]}`) }
	client := db.Before(t, "TransactWriteItems", 1, tag)
	err := tagtype.NewStore(client, db.Tables, db.LogThrough(client)).Delete(t.Context(), "team", always)
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	db.Update(t, "a", `{"archived":true}`)
	handlers(types).Expect(t.Context(), t, "delete", "team", "", `409 ConflictError: The tag type "team" is in use. The `+
		`number of toggles that have tags of it, archived ones included, is 1. Remove these tags first.`)
	db.Update(t, "a", `{"Tags":null}`)
	assert.OK(t, types.Delete(t.Context(), "team", always))
	_, err = db.Store.Update(t.Context(), "a", toggles.With(`{"Tags":[{"type":"team","value":"checkout"}]}`))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
}

// The check finds a type that does not exist, and its repair creates it.
func TestCheck(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	types := tagtype.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))
	check := func() []consistency.Inconsistency {
		_, found, err := types.Check(context.Background())
		assert.OK(t, err)
		return found
	}
	assert.OK(t, types.Create(t.Context(), tagtype.TagType{Name: "team"}))
	db.Create(t, `{"name":"a","Tags":[{"type":"team","value":"x"},{"type":"simple","value":"x"}]}`)
	assert.Equal(t, 0, len(check()))
	db.Delete(t, db.Tables["Access"], accesstable.Key(accesstable.KindTagType, "team"))
	found := check()
	assert.Equal(t, `the tag type "team", which is used, does not exist`, found[0].Text)
	assert.OK(t, found[0].Repair(t.Context()))
	assert.Equal(t, 0, len(check()))
}
