package contextfield_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// An update replaces everything but the name, the time of creation and the usage.
func TestUpdate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	created := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	create(t, store, db, contextfield.ContextField{Name: "other", SortOrder: 7})
	create(t, store, db, contextfield.ContextField{
		Name: "f", Description: new("d"), Stickiness: true, SortOrder: 3, CreatedAt: &created,
		LegalValues: []contextfield.LegalValue{{Value: "v"}},
	})
	item := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("f")})
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2), "q": dynamo.N(1)})
	db.Put(t, db.Tables.ContextFields, item)
	field := func(members, legalValues string) string {
		return `{"name":"f",` + members +
			`,"createdAt":"2020-01-02T03:04:05.000Z","usedInFeatures":3,"usedInProjects":2,"legalValues":[` + legalValues + `]}`
	}
	for _, tt := range []struct{ body, want string }{
		{`{"name":7,"createdAt":1,"usedInFeatures":{}}`, field(`"description":null,"stickiness":false,"sortOrder":8`, "")},
		{`{}`, field(`"description":null,"stickiness":false,"sortOrder":8`, "")},
		{`{"description":"e","stickiness":true,"sortOrder":0,"legalValues":[{"value":"w","description":"x"}]}`,
			field(`"description":"e","stickiness":true,"sortOrder":0`, `{"value":"w","description":"x"}`)},
		{`{"description":"","legalValues":[]}`, field(`"description":"","stickiness":false,"sortOrder":8`, "")},
	} {
		requireServed(t, h.update, "f", tt.body, 200, tt.want)
		requireServed(t, h.get, "f", "", 200, tt.want)
	}
}

// The tag of a field changes with what an update replaces, and not with its usage. It is compared by the write.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	create(t, store, db, contextfield.ContextField{Name: "f", SortOrder: 1})
	tag := func() string {
		_, header, _ := serve(t.Context(), h.get, "f", "")
		return header.Get("ETag")
	}
	put := func(handler lambdahttp.HandlerFunc, etag string) (status int) {
		status, _, _ = serve(t.Context(), func(w http.ResponseWriter, r *http.Request) error {
			r.Header.Set("If-Match", etag)
			return handler(w, r)
		}, "f", `{"sortOrder":2}`)
		return status
	}
	known := map[string]string{}
	for _, body := range []string{
		`{"sortOrder":1}`, `{"sortOrder":1,"description":""}`, `{"sortOrder":1,"stickiness":true}`, `{"sortOrder":3}`,
		`{"sortOrder":1,"legalValues":[{"value":"v"}]}`, `{"sortOrder":1,"legalValues":[{"value":"v","description":"d"}]}`,
	} {
		serve(t.Context(), h.update, "f", body)
		if known[tag()] != "" {
			t.Errorf("%s has the tag of %s", body, known[tag()])
		}
		known[tag()] = body
	}
	before := tag()
	item := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("f")})
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2)})
	db.Put(t, db.Tables.ContextFields, item)
	if tag() != before {
		t.Error("usage changes the tag")
	}
	// Another client changes the field after it was read.
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			serve(context.WithoutCancel(t.Context()), h.update, "f", `{"sortOrder":5}`)
		}
		return c.Pass()
	})
	overtaken, err := contextfield.Update(contextfield.NewStore(client, db.Tables,
		eventlog.New(client, db.Tables, time.Now, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if status := put(overtaken, before); status != http.StatusPreconditionFailed {
		t.Error(status)
	}
	if status := put(h.update, before); status != http.StatusPreconditionFailed {
		t.Error(status)
	}
	if f, err := store.Get(t.Context(), "f"); err != nil || f.SortOrder != 5 {
		t.Error(f, err)
	}
	if status := put(h.update, tag()); status != http.StatusOK {
		t.Error(status)
	}
}

// A misspelled member does not delete the values that it was meant to set.
func TestUnknownMember(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := newHandlers(t, store)
	f := contextfield.ContextField{Name: "f", LegalValues: []contextfield.LegalValue{{Value: "v"}}}
	create(t, store, db, f)
	const want = "ValidationError: The `/body/legalvalues` property is unknown; the closest one is `legalValues`."
	for _, handler := range []lambdahttp.HandlerFunc{h.update, h.create} {
		requireServed(t, handler, "f", `{"name":"g","legalvalues":[{"value":"v"}]}`, 400, want)
	}
	requireStored(t, store, f)
}
