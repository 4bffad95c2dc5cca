package featuretype_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// handlers returns the operations on a store.
func handlers(store *featuretype.Store) operation.Set {
	return operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list": featuretype.List(store), "update": featuretype.UpdateLifetime(store),
	}}
}

// TestList checks contract section 4.2: the types of a new instance, and the order by position, then by id.
func TestList(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	handlers(store).Expect(t.Context(), t, "list", "", "", `200 {"version":1,"types":[]}`)
	all := append(toggle.DefaultTypes(), toggle.Type{ID: "b", Position: 10},
		toggle.Type{ID: "c", Position: 10})
	slices.Reverse(all)
	create(t, db, all...)
	handlers(store).Expect(t.Context(), t, "list", "", "", `200 {"version":1,"types":[`+
		`{"id":"release","name":"Release",`+
		`"description":"Brings a new feature to users step by step.","lifetimeDays":40},`+
		`{"id":"experiment","name":"Experiment",`+
		`"description":"Tries several versions of a feature to see which does best.","lifetimeDays":40},`+
		`{"id":"operational","name":"Operational",`+
		`"description":"Controls how the system behaves while a change rolls out.","lifetimeDays":7},`+
		`{"id":"kill-switch","name":"Kill switch",`+
		`"description":"Turns a critical part of the system off, or on again, at once.","lifetimeDays":null},`+
		`{"id":"permission","name":"Permission",`+
		`"description":"Decides what a user is entitled to do or see.","lifetimeDays":null},`+
		`{"id":"b","name":"","description":"","lifetimeDays":null},`+
		`{"id":"c","name":"","description":"","lifetimeDays":null}]}`)
}

func TestUpdateLifetime(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, toggle.Type{ID: "release", Name: "Release", Description: "d"},
		toggle.Type{ID: "az@[k"})
	h := handlers(store)
	const (
		required = "400 ValidationError: The `/body/lifetimeDays` property is required; you did not send it."
		changed  = "412 PreconditionFailed: The resource has changed since you read it. Read it again and repeat the change."
		exists   = "412 PreconditionFailed: The resource exists and matches `If-None-Match`."
	)
	unknown := func(id string) string {
		return fmt.Sprintf("404 NotFoundError: There is no feature type with the id %q.", id)
	}
	stored := func(lifetime string) string {
		return `200 {"id":"release","name":"Release","description":"d","lifetimeDays":` + lifetime + `}`
	}
	for _, test := range []struct{ id, body, want string }{
		{"release", `{"lifetimeDays":1}`, stored("1")},
		{"release", `{"lifetimeDays":2147483647}`, stored("2147483647")},
		{"release", `{"lifetimeDays":0}`, stored("null")},
		{"RELEASE", `{"lifetimeDays":1}`, stored("1")},
		{"release", `{"lifetimeDays":null}`, stored("null")},
		{"release", `{}`, required}, // the body is read before the type
		{"x", `{}`, required},
		{`x"y`, `{"lifetimeDays":1}`, unknown(`x"y`)},
		{"unknown", `{"lifetimeDays":null}`, unknown("unknown")},
		// Only ASCII letters have another case: not the Kelvin sign.
		{"AZ@[K", `{"lifetimeDays":1}`, `200 {"id":"az@[k","name":"","description":"","lifetimeDays":1}`},
		{"AZ@[\u212a", `{"lifetimeDays":1}`, unknown("AZ@[\u212a")},
		{"%FF", `{"lifetimeDays":1}`, unknown("%FF")},
	} {
		h.Expect(t.Context(), t, "update", test.id, test.body, test.want)
	}
	h.With("If-Match", `"old"`).Expect(t.Context(), t, "update", "release", `{"lifetimeDays":2}`, changed)
	h.With("If-Match", `"old"`).Expect(t.Context(), t, "update", "unknown", `{"lifetimeDays":2}`, unknown("unknown"))
	h.With("If-None-Match", "*").Expect(t.Context(), t, "update", "release", `{"lifetimeDays":2}`, exists)
	h.With("If-Match", "*").Expect(t.Context(), t, "update", "release", `{}`, required)
	h.With("If-Match", "*").Expect(t.Context(), t, "update", "release", `{"lifetimeDays":3}`, stored("3"))
	assert.Equal(t, 7, len(db.Events(t)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.ExpectStatus(ctx, t, "list", "", "", 503)
	h.ExpectStatus(ctx, t, "update", "release", `{"lifetimeDays":1}`, 503)
}

// The lifetimes of all types have one entity tag. A write compares it with the types that it read, in its transaction.
func TestLifetimeTag(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, toggle.Type{ID: "release"}, toggle.Type{ID: "permission"})
	h := handlers(store)
	tag := func() string {
		_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "list"})
		return header.Get("ETag")
	}
	first := tag()
	h.With("If-Match", first).ExpectStatus(t.Context(), t, "update", "release", `{"lifetimeDays":2}`, 200)
	h.With("If-Match", first).ExpectStatus(t.Context(), t, "update", "release", `{"lifetimeDays":3}`, 412)
	h.With("If-Match", first).ExpectStatus(t.Context(), t, "update", "permission", `{"lifetimeDays":3}`, 412)
	second := tag()
	client := db.Before(t, "TransactWriteItems", 1, func() {
		_, err := store.SetLifetime(t.Context(), "release", new(int64(5)))
		assert.OK(t, err)
	})
	late := handlers(featuretype.NewStore(client, db.Tables, db.LogThrough(client)))
	late.With("If-Match", second).ExpectStatus(t.Context(), t, "update", "release", `{"lifetimeDays":3}`, 412)
	stored, err := store.Get(t.Context(), "release")
	assert.OK(t, err)
	assert.Equal(t, new(int64(5)), stored.LifetimeDays)
}

func TestUpdateLifetimeRejectsInvalidBodies(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, toggle.Type{ID: "release"})
	h := handlers(store)
	for _, test := range []struct{ lifetime, message string }{
		{"-1", "must be at least 0; you sent -1."},
		{"2147483648", "must be at most 2147483647; you sent 2147483648."},
		{"1.5", "must be an integer or null; you sent 1.5."},
	} {
		h.Expect(t.Context(), t, "update", "release", `{"lifetimeDays":`+test.lifetime+`}`,
			"400 ValidationError: The `/body/lifetimeDays` property "+test.message)
	}
}
