package browser_test

import (
	"net/http"
	"strconv"
	"testing"

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
	b.is("[...document.querySelectorAll('dialog [aria-invalid]')].map(e => e.ariaLabel || e.name).join() === 'name,sortOrder,Value 1'")
	b.replace(field("Name"), "userId")
	b.replace(field("Sort order"), "7")
	b.replace(field("Value 1"), "basic")
	b.click(button("Create context field"))
	b.seesError(field("Name"), "userId") // a field with this name exists
	b.replace(field("Name"), "plan")
	b.click(button("Create context field"))
	b.find(button("Edit context field plan"))

	b.click(button("Edit context field plan"))
	b.replace(field("Description"), "What the customer pays for")
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
		"legalValues": []any{map[string]any{"value": "business", "description": "With support"}, map[string]any{"value": "basic"}},
	}, got); diff != "" {
		t.Error(diff)
	}

	b.click(button("Delete context field plan"))
	b.click(button("Delete context field"))
	b.seesNo("What the customer pays for")

	b.click(button("Delete context field userId"))
	b.sees("3 toggles use this field.")
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
	b.click(button("Add legal value"))
	b.replace(field("Value 1001"), "more")
	b.click(button("Save"))
	b.seesError(button("Add legal value"), "The value must have at most 1000 elements")
}

// What was entered is lost only if the user says so.
func TestLeaveAnEditedContextField(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.signIn("editor", "")
	b.open("Context fields")
	b.click(button("Create context field"))
	b.replace(field("Name"), "plan")
	b.click(button("Cancel"))
	b.click(button("Keep editing"))
	b.is("document.querySelector('dialog [name=name]').value === 'plan'")
	b.click(button("Cancel"))
	b.click(button("Discard changes"))
	b.is("document.querySelector('dialog') === null")
}
