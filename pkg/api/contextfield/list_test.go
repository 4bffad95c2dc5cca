package contextfield_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/dynamo"
)

func TestList(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(t, store)
	h.Run(t.Context(), t, `list | | | 200 []`)
	create(t, store, db, contextfield.ContextField{
		Name: "a", Description: new("d"), Stickiness: true, SortOrder: 7,
		CreatedAt:   new(time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)),
		LegalValues: []contextfield.LegalValue{{Value: "v", Description: new("w")}, {Value: "x"}},
	})
	item := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("a")})
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2), "q": dynamo.N(1), "r": dynamo.N(0)})
	db.Put(t, db.Tables.ContextFields, item)
	create(t, store, db, contextfield.ContextField{Name: "b", SortOrder: 8})
	h.Run(t.Context(), t, `list | | | 200 [{"name":"a","description":"d","stickiness":true,"sortOrder":7,`+
		`"createdAt":"2026-11-20T05:39:00.000Z","usedInFeatures":3,"usedInProjects":2,`+
		`"legalValues":[{"value":"v","description":"w"},{"value":"x"}]},`+
		`{"name":"b","description":null,"stickiness":false,"sortOrder":8,"createdAt":null,"usedInFeatures":0,`+
		`"usedInProjects":0,"legalValues":[]}]`)
}
