package featurelink_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featurelink"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// Each change of a link is an event of its toggle.
func TestLinks(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`)
	ids := 0
	h := operation.Set{
		Parameters: []string{"projectId", "featureName", "linkId"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"add": featurelink.Add(db.Store, func() string {
				ids++
				return fmt.Sprint("L", ids)
			}),
			"update": featurelink.Update(db.Store), "remove": featurelink.Remove(db.Store), "get": feature.Get(db.Store.Reader),
		},
	}
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "add", Path: "default/a", Body: `{"url":"https://example.com/1"}`})
	if location := header.Get("Location"); !strings.HasSuffix(location, "/L1") {
		t.Errorf("Location: %q", location)
	}
	const unknown = `404 NotFoundError: The toggle "a" has no link with the id "L9".`
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"add", "default/a", `{"url":"https://example.com/2","title":"Two"}`, "204"},
		{"update", "default/a/L1", `{"url":"https://example.com/3","title":"Three"}`, "204"},
		{"update", "default/a/L1", `{"url":"https://example.com/3","title":"Three"}`, "204"}, // records nothing
		{"update", "default/a/L9", `{"url":"https://example.com/3"}`, unknown},
		{"remove", "default/a/L9", "", unknown},
		{"remove", "default/a/%FF", "", `404 NotFoundError: The toggle "a" has no link with the id "%FF".`},
		{
			"add", "default/a", `{"url":"javascript:alert(1)"}`,
			"400 ValidationError: The `/body/url` property must be an http or https URL of at most 1000 characters; " +
				`you sent "javascript:alert(1)".`,
		},
		{"add", "p/a", `{"url":"https://example.com"}`, toggles.UnknownIn("p", "a")},
		{"remove", "default/a/L2", "", "204"},
	})
	assert.Equal(t, []toggle.Link{{ID: "L1", URL: "https://example.com/3", Title: new("Three")}}, db.Toggle(t, "a").Links)
	assert.Equal(t, []string{
		`feature-link-added toggle:a by system: {"id":"L1","url":"https://example.com/1","title":null}`,
		`feature-link-added toggle:a by system: {"id":"L2","url":"https://example.com/2","title":"Two"}`,
		`feature-link-updated toggle:a by system: {"id":"L1","url":"https://example.com/3","title":"Three"} before ` +
			`{"id":"L1","url":"https://example.com/1","title":null}`,
		`feature-link-removed toggle:a by system: before {"id":"L2","url":"https://example.com/2","title":"Two"}`,
	}, database.About(db.Events(t), "toggle:a")[2:])

	for range toggle.MaxLinks - 1 {
		h.ExpectStatus(t.Context(), t, "add", "default/a", `{"url":"https://example.com"}`, 204)
	}
	h.Expect(t.Context(), t, "add", "default/a", `{"url":"https://example.com"}`,
		`400 ValidationError: The toggle "a" has 30 links, which is the maximum. Delete one first.`)
}
