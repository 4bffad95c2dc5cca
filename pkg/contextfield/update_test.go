package contextfield_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
)

// An update replaces everything but the name, the time of creation and the usage.
func TestUpdate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	created := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	create(t, store, db, contextfield.ContextField{Name: "other", SortOrder: 7})
	create(t, store, db, contextfield.ContextField{
		Name: "f", Description: new("d"), Stickiness: true, SortOrder: 3, CreatedAt: &created, LegalValues: []contextfield.LegalValue{{Value: "v"}},
	})
	item := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("f")})
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2), "q": dynamo.N(1)})
	db.Put(t, db.Tables.ContextFields, item)
	field := func(members, legalValues string) string {
		return `{"name":"f",` + members + `,"createdAt":"2020-01-02T03:04:05.000Z","usedInFeatures":3,"usedInProjects":2,"legalValues":[` + legalValues + `]}`
	}
	for _, tt := range []struct{ body, want string }{
		{`{"name":7,"createdAt":1,"usage":{}}`, field(`"description":null,"stickiness":false,"sortOrder":8`, "")},
		{`{}`, field(`"description":null,"stickiness":false,"sortOrder":8`, "")},
		{`{"description":"e","stickiness":true,"sortOrder":0,"legalValues":[{"value":"w","description":"x"}]}`,
			field(`"description":"e","stickiness":true,"sortOrder":0`, `{"value":"w","description":"x"}`)},
		{`{"description":"","legalValues":[]}`, field(`"description":"","stickiness":false,"sortOrder":8`, "")},
	} {
		requireServed(t, h.update, "f", tt.body, 200, tt.want)
		requireServed(t, h.get, "f", "", 200, tt.want)
	}
}
