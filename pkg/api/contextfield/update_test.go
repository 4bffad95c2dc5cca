package contextfield_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/references"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// An update replaces everything but the name, the time of creation and the references.
func TestUpdate(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	h.Expect(t.Context(), t, "list", "", "", "200 []")
	created := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	create(t, store, contextfield.ContextField{Name: "other", SortOrder: 7}, contextfield.ContextField{
		Name: "f", Description: new("d"), Stickiness: true, SortOrder: 3, CreatedAt: &created,
		LegalValues: []contextfield.LegalValue{{Value: "v"}},
	})
	setReferences(t, db, references.ByProject{"p": 2, "q": 1})
	const (
		used = `"createdAt":"2020-01-02T03:04:05.000Z","usedInFeatures":3,"usedInProjects":2,"legalValues":`
		full = `{"name":"f","description":"e","stickiness":true,"sortOrder":0,` + used +
			`[{"value":"w","description":"x"},{"value":"v","description":null}]}`
		empty = `{"name":"f","description":null,"stickiness":false,"sortOrder":8,` + used + `[]}`
		other = `{"name":"other","description":null,"stickiness":false,"sortOrder":7,"createdAt":null,` +
			`"usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`
	)
	expect(t, h, []call{
		{
			"list", "", "",
			`200 [{"name":"f","description":"d","stickiness":true,"sortOrder":3,` + used +
				`[{"value":"v","description":null}]},` + other + `]`,
		},
		{"update", "f", `{"name":7,"createdAt":1,"usedInFeatures":{}}`, "200 " + empty}, // they are ignored
		{"update", "f", `{}`, "200 " + empty},
		{"get", "f", "", "200 " + empty},
		{
			"update", "f",
			`{"description":"e","stickiness":true,"sortOrder":0,"legalValues":[{"value":"w","description":"x"},{"value":"v"}]}`,
			"200 " + full,
		},
		{"list", "", "", "200 [" + full + "," + other + "]"},
		{
			"update", "f", `{"description":"","legalValues":[]}`,
			`200 {"name":"f","description":"","stickiness":false,"sortOrder":8,` + used + `[]}`,
		},
	})
}

// The tag of a field changes with what an update replaces, and not with its references. It is compared by the write.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	create(t, store, contextfield.ContextField{Name: "f", SortOrder: 1})
	tag := func() string {
		_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "get", Path: "f"})
		return header.Get("ETag")
	}
	known := map[string]string{}
	for _, body := range []string{
		`{"sortOrder":1}`, `{"sortOrder":1,"description":""}`, `{"sortOrder":1,"stickiness":true}`, `{"sortOrder":3}`,
		`{"sortOrder":1,"legalValues":[{"value":"v"}]}`, `{"sortOrder":1,"legalValues":[{"value":"v","description":"d"}]}`,
	} {
		h.Serve(t.Context(), operation.Request{Operation: "update", Path: "f", Body: body})
		if known[tag()] != "" {
			t.Errorf("%s has the tag of %s", body, known[tag()])
		}
		known[tag()] = body
	}
	before := tag()
	setReferences(t, db, references.ByProject{"p": 2})
	assert.Equal(t, before, tag())
	// Another client changes the field after it was read.
	client := db.Before(t, "TransactWriteItems", 1, func() {
		h.ExpectStatus(t.Context(), t, "update", "f", `{"sortOrder":5}`, 200)
	})
	superseded := handlers(contextfield.NewStore(client, db.Tables, db.LogThrough(client)))
	superseded.With("If-Match", before).Expect(t.Context(), t, "update", "f", `{"sortOrder":2}`, changed)
	h.With("If-Match", before).Expect(t.Context(), t, "update", "f", `{"sortOrder":2}`, changed)
	h.Expect(t.Context(), t, "get", "f", "", `200 {"name":"f","description":null,"stickiness":false,"sortOrder":5,`+
		`"createdAt":null,"usedInFeatures":2,"usedInProjects":1,"legalValues":[]}`)
	h.With("If-Match", tag()).ExpectStatus(t.Context(), t, "update", "f", `{"sortOrder":2}`, 200)
}
