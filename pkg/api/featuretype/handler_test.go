package featuretype_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/operation"
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
	handlers(store).Run(t.Context(), t, `list | | | 200 {"version":1,"types":[]}`)
	all := append(featuretype.Defaults(), featuretype.FeatureType{ID: "b", Position: 10},
		featuretype.FeatureType{ID: "c", Position: 10})
	slices.Reverse(all)
	create(t, db, all...)
	handlers(store).Run(t.Context(), t, strings.NewReplacer("; ", `","description":"`, " = ", `","lifetimeDays":`).Replace(
		`list | | | 200 {"version":1,"types":[`+
			`{"id":"release","name":"Release; Brings a new feature to users step by step. = 40},`+
			`{"id":"experiment","name":"Experiment; Tries several versions of a feature to see which does best. = 40},`+
			`{"id":"operational","name":"Operational; Controls how the system behaves while a change rolls out. = 7},`+
			`{"id":"kill-switch","name":"Kill switch; Turns a critical part of the system off, or on again, at once. = null},`+
			`{"id":"permission","name":"Permission; Decides what a user is entitled to do or see. = null},`+
			`{"id":"b","name":";  = null},{"id":"c","name":";  = null}]}`))
}

func TestUpdateLifetime(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, featuretype.FeatureType{ID: "release", Name: "Release", Description: "d"},
		featuretype.FeatureType{ID: "az@[k"})
	h := handlers(store)
	h.Run(t.Context(), t, strings.NewReplacer("STORED", `{"id":"release","name":"Release","description":"d","lifetimeDays":`,
		"PROPERTY", "400 ValidationError: The ^/body/lifetimeDays^ property").Replace(`
		update | release | {"lifetimeDays":1} | 200 STORED1}
		update | release | {"lifetimeDays":2147483647} | 200 STORED2147483647}
		update | release | {"lifetimeDays":0} | 200 STOREDnull}
		update | RELEASE | {"lifetimeDays":1} | 200 STORED1}
		update | release | {"lifetimeDays":null} | 200 STOREDnull}
		update | release | {"lifetimeDays":-1} | PROPERTY must be at least 0; you sent -1.
		update | release | {"lifetimeDays":2147483648} | PROPERTY must be at most 2147483647; you sent 2147483648.
		update | release | {"lifetimeDays":1.5} | PROPERTY must be an integer or null; you sent 1.5.
		# the body is read first
		update | release | {} | PROPERTY is required; you did not send it.
		update | x | {} | PROPERTY is required; you did not send it.
		update | x"y | {"lifetimeDays":1} | 404 NotFoundError: There is no feature type with the id "x\"y".
		update | unknown | {"lifetimeDays":null} | 404 NotFoundError: There is no feature type with the id "unknown".
		# only ASCII letters have another case: not the Kelvin sign
		update | AZ@[K | {"lifetimeDays":1} | 200 {"id":"az@[k",…
		update | "AZ@[\u212a" | {"lifetimeDays":1} | 404 …
		update | %FF | {"lifetimeDays":1} | 404 NotFoundError: There is no feature type with the id "%FF".
	`))
	// A type has no entity tag.
	h.With("If-Match", `"old"`).Run(t.Context(), t, `
		update | release | {"lifetimeDays":2} | 412 PreconditionFailed: The resource has no entity tag…
		update | unknown | {"lifetimeDays":2} | 404 …
	`)
	h.With("If-None-Match", "*").Run(t.Context(), t, `update | release | {"lifetimeDays":2} | 412 PreconditionFailed: …`)
	h.With("If-Match", "*").Run(t.Context(), t, `update | release | {} | 400 …
		update | release | {"lifetimeDays":3} | 200 {"id":"release","name":"Release","description":"d","lifetimeDays":3}`)
	assert.Equal(t, 7, len(db.Events(t)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Run(ctx, t, `list update | release | {"lifetimeDays":1} | 503 …`)
}
