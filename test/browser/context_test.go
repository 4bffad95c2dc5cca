package browser_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
)

func TestCreateEditAndDeleteAContextField(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 400", "status of 409")
	b.signIn("editor", "")
	b.open("Context fields")
	b.is(rowOf("userId") + ".innerText.includes('3')") // toggles that use it

	b.click(button("Create context field"))
	b.replace(field("Name"), "not valid")
	b.replace(field("Sort order"), "first")
	b.click(button("Add legal value"))
	b.click(button("Create context field"))
	b.seesError(field("Name"), "The value must have only the characters") // the first of several errors has the focus
	b.is("[...document.querySelectorAll('dialog [aria-invalid]')].map(e => e.ariaLabel || e.name).join() === 'name," +
		"sortOrder,Value 1'")
	b.replace(field("Name"), "userId")
	b.replace(field("Sort order"), "7")
	b.replace(field("Value 1"), "basic")
	b.click(button("Create context field"))
	b.seesError(field("Name"), "userId") // a field with this name exists
	b.replace(field("Name"), "plan")
	b.click(button("Create context field"))
	b.find(button("Edit context field plan"))

	on[chromedp.Void](b, button("Edit context field plan"), "e => [1, 2].forEach(() => e.click())")
	b.replace(field("Description"), "What the customer pays for")
	if n := b.requested("/api/admin/context/plan"); n != 1 {
		t.Errorf("two clicks open %d dialogs", n)
	}
	b.click(field("Use for stickiness"))
	b.click(button("Add legal value"))
	b.replace(field("Value 2"), "business")
	b.replace(field("Description of value 2"), "With support")
	b.click(button("Move value 2 up"))
	b.click(button("Save"))
	b.sees("What the customer pays for", "With support", "Stickiness")
	_, got := send[map[string]any](t, b.service, b.service.pat("viewer"), http.MethodGet, "/api/admin/context/plan", "")
	delete(got, "createdAt")
	if diff := cmp.Diff(map[string]any{
		"name": "plan", "description": "What the customer pays for", "stickiness": true, "sortOrder": 7.0,
		"usedInFeatures": 0.0, "usedInProjects": 0.0,
		"legalValues": []any{map[string]any{"value": "business", "description": "With support"},
			map[string]any{"value": "basic"}},
	}, got); diff != "" {
		t.Error(diff)
	}

	b.click(button("Delete context field plan"))
	b.click(button("Delete context field"))
	b.seesNo("What the customer pays for")

	b.click(button("Delete context field userId"))
	b.sees("3 toggles use this field.", "beta-access", "dark-mode", "new-checkout")
	b.click(button("Delete context field"))
	b.is("document.querySelector('dialog [role=alert]').innerText.includes('userId')") // the API's message
	b.click(button("Cancel"))
	b.find(button("Delete context field userId"))
}

func TestTooManyLegalValues(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 400")
	values := make([]map[string]any, 1000)
	for i := range values {
		values[i] = map[string]any{"value": strconv.Itoa(i)}
	}
	b.service.create(t, "editor", "/api/admin/context", map[string]any{"name": "plan", "legalValues": values})
	b.signIn("editor", "#/context")
	b.click(button("Edit context field plan"))
	b.sees("50 of 1,000 values shown")
	b.replace(field("Search legal values"), "99")
	b.sees("19 of 1,000 values shown")
	b.replace(field("Description of value 1000"), "the last one")
	b.is("(save => save.bottom <= innerHeight && save.top >= 0)([...document.querySelectorAll('dialog button')].find(e " +
		"=> e.innerText === 'Save').getBoundingClientRect())")
	b.click(button("Save"))
	b.seesNo("Edit context field plan")
	b.click(button("Edit context field plan"))
	b.click(button("Add legal value"))
	b.replace(field("Value 1001"), "more")
	b.click(button("Save"))
	b.seesError(button("Add legal value"), "The value must have at most 1000 elements")
}

// What someone else has changed is not overwritten unseen, and many values are added at once.
func TestEditAFieldThatOthersEdit(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 412")
	b.signIn("editor", "#/context")
	b.click(button("Edit context field appName"))
	b.click(button("Add several"))
	b.replace(field("Values"), "shop\tThe shop\napi\nshop\n")
	b.click(button("Add"))
	b.replace(field("Description"), "mine")
	send[any](t, b.service, b.service.pat("admin"), http.MethodPut, "/api/admin/context/appName",
		`{"description":"theirs","stickiness":true}`)
	b.click(button("Save"))
	b.sees("Someone has changed it", "→ theirs", "Use for stickiness: no → yes")
	b.click(button("Save"))
	b.sees("mine", "shop The shop")
	_, got := send[map[string]any](t, b.service, b.service.pat("viewer"), http.MethodGet, "/api/admin/context/appName", "")
	if diff := cmp.Diff([]any{map[string]any{"value": "shop", "description": "The shop"}, map[string]any{"value": "api"}},
		got["legalValues"]); diff != "" {
		t.Error(diff)
	}
}

// Of 500 fields, a page shows some, and the search finds the others.
func TestManyContextFields(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	for i := range 60 {
		s.create(t, "editor", "/api/admin/context", map[string]any{"name": fmt.Sprintf("field%02d", i)})
	}
	b := openTab(t, s)
	b.signIn("viewer", "#/context?query=field")
	b.sees("1–50 of 60 context fields", "field49")
	b.click(button("Next ›"))
	b.sees("51–60 of 60 context fields", "field59")
	b.replace(field("Search"), "FIELD07")
	b.sees("1 context field")
	b.is("location.hash === '#/context?query=FIELD07'")
}

// What was entered survives Back, a reload and the end of the session.
func TestUnsavedWorkIsKept(t *testing.T) {
	t.Parallel()
	c := &clock{}
	s := start(t, local.Config{Now: c.now})
	b := openTab(t, s)
	b.mayLog("status of 401")
	b.enter(s.createToken(t, "editor", "short", time.Now().Add(time.Hour)), "#/toggles")
	b.sees("editor")
	b.open("Context fields")
	b.click(button("Create context field"))
	b.replace(field("Name"), "plan")
	b.click(button("Add legal value"))
	b.replace(field("Value 1"), "basic")
	b.goBack()
	b.sees("Not saved: a new context field")
	b.reload()
	b.sees("Not saved: a new context field")
	b.click(button("Continue"))
	b.is("document.querySelector('dialog [name=name]').value === 'plan'")
	c.advance(2 * time.Hour)
	b.click(button("Create context field"))
	b.sees("Your session has ended.")
	b.replace(field("Personal access token"), s.pat("editor"))
	b.click(button("Sign in"))
	b.click(button("Continue"))
	b.is("document.querySelector('dialog [name=name]').value === 'plan'")
	b.click(button("Create context field"))
	b.find(button("Edit context field plan"))
	b.sees("basic")
	b.is("sessionStorage.getItem('toggleadmin.draft') === null")
}
