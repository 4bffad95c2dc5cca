package browser_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
)

// createToggle creates a toggle as the editor.
func (s *service) createToggle(t *testing.T, project, name string) {
	t.Helper()
	s.create(t, "editor", "/api/admin/projects/"+project+"/features", map[string]any{"name": name})
}

// toggle returns a toggle of the project shop as the API reports it.
func (s *service) toggle(t *testing.T, name string) (status int, toggle map[string]any) {
	t.Helper()
	return send[map[string]any](t, s, s.pat("viewer"), http.MethodGet, "/api/admin/projects/shop/features/"+name, "")
}

// A toggle lives from its creation to its deletion, and its page shows the history.
func TestLifeOfAToggle(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 400", "status of 409", "status of 412", "status of 404")
	b.signIn("admin", "#/toggles?project=shop")
	b.click(button("Create toggle"))
	b.replace(field("Name"), "not valid")
	b.click(button("Create toggle"))
	b.seesError(field("Name"), "The value must have only the characters")
	b.replace(field("Name"), "dark-mode")
	b.click(button("Create toggle"))
	b.seesError(field("Name"), "archived toggles included")
	b.replace(field("Name"), "fast-search")
	b.replace(field("Description"), "first")
	b.click(button("Create toggle"))
	b.find(heading("fast-search"))
	b.sees("Active", "first", "Toggle created")
	b.is("location.hash === '#/toggles/shop/fast-search'")

	// Someone else changes it while the form is open.
	b.click(button("Edit"))
	b.replace(field("Description"), "mine")
	status, _ := send[any](t, b.service, b.service.pat("editor"), http.MethodPut,
		"/api/admin/projects/shop/features/fast-search",
		`{"description":"theirs","type":"experiment"}`)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	b.click(button("Save"))
	b.sees("Someone has changed it", "Description: first → theirs", "Type: release → experiment")
	b.is("document.querySelector('dialog textarea').value === 'mine'")
	if _, got := b.service.toggle(t, "fast-search"); got["description"] != "theirs" {
		t.Errorf("the form has overwritten %q", got["description"])
	}
	b.click(button("Save"))
	b.sees("mine", "Toggle updated")
	_, got := b.service.toggle(t, "fast-search")
	if got["description"] != "mine" || got["type"] != "release" {
		t.Errorf("saved %v", got)
	}

	b.click(button("Mark as stale"))
	b.click(button("Mark as stale"))
	b.sees("1 toggle marked as stale.", "Toggle marked as stale")
	b.click(button("Undo"))
	b.sees("Active")
	b.click(button("Archive"))
	b.click(button("Archive"))
	b.sees("Toggle archived")
	b.click(button("Revive"))
	b.click(button("Revive"))
	b.sees("Toggle revived")
	b.click(button("Undo"))
	b.click(button("Delete"))
	b.sees("This cannot be undone.")
	b.click(button("Delete"))
	b.sees("old-banner") // the list of archived toggles
	if status, _ := b.service.toggle(t, "fast-search"); status != http.StatusNotFound {
		t.Errorf("status %d of a deleted toggle", status)
	}
}

// A view is an address: filters, sort and page.
func TestFiltersOfToggles(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	for i := range 51 {
		s.createToggle(t, "many", fmt.Sprintf("toggle-%02d", i))
	}
	b := openTab(t, s)
	b.mayLog("status of 400")
	names := func() string {
		return run[string](b, "[...document.querySelectorAll('.toggles tbody th a')].map(a => a.innerText).join()")
	}
	b.signIn("viewer", "")
	b.find(heading("Toggles"))
	b.sees("1–50 of 58 toggles", "Active\n55")
	b.click(link("Archived 1"))
	b.sees("old-banner", "1–1 of 1 toggle")
	b.click(link("All 58"))
	b.replace(field("Project"), "shop")
	b.sees("1–3 of 3 toggles", "Archived\n1", "All\n3")
	b.click(link("Name"))
	b.is("(sorted => sorted.innerText.startsWith('Name') && sorted.ariaSort === 'ascending' && " +
		"sorted.contains(document.activeElement))(document.querySelector('[aria-sort]'))")
	b.click(link("Name"))
	b.await("the order is descending",
		func() (bool, error) { return names() == "stop-payments,search-ranking,new-checkout", nil })
	b.reload()
	b.sees("1–3 of 3 toggles")
	if diff := cmp.Diff("stop-payments,search-ranking,new-checkout", names()); diff != "" {
		t.Error(diff)
	}
	b.replace(field("Search"), "CHECK")
	b.sees("1–1 of 1 toggle")
	b.is("location.hash === '#/toggles?query=CHECK&project=shop&sortBy=name&sortOrder=desc'")
	b.goBack()
	b.replace(field("Search"), "none of this name")
	b.sees("No toggle matches the filters.")
	b.click(link("Show all toggles"))
	b.click(link("Next ›"))
	b.sees("51–58 of 58 toggles")
	b.click(link("‹ Previous"))
	b.sees("1–50 of 58 toggles")
	run[string](b, "location.hash = '#/toggles?state=active&project=shop'")
	b.sees("1–2 of 2 toggles", "All\n3", "Active\n2", "Potentially stale\n1", "Archived\n1")
	run[string](b, "location.hash = '#/toggles?offset=-1'")
	b.sees("The `/query/offset` parameter", "Request ID:")
}

// Many toggles are marked in groups of 50, and what cannot be done is listed.
func TestManyToggles(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	for i := range 60 {
		s.createToggle(t, "many", fmt.Sprintf("toggle-%02d", i))
	}
	b := openTab(t, s)
	b.mayLog("status of 404")
	b.signIn("editor", "#/toggles?project=many&sortBy=name")
	b.click(field("Select all on this page"))
	b.click(link("Next ›"))
	b.sees("51–60 of 60", "50 selected")
	b.click(field("Select all on this page"))
	b.click(button("Mark as stale"))
	b.sees("Mark as stale: 60 toggles?", "and 50 more")
	b.click(button("Mark as stale"))
	b.sees("60 toggles marked as stale.", "Marked as stale\n60")
	if n := b.requested("/projects/many/stale"); n != 2 {
		t.Errorf("%d requests to mark 60 toggles, want 2", n)
	}
	b.click(button("Undo"))
	b.sees("60 toggles no longer marked as stale.", "Marked as stale\n0")

	b.click(field("Select toggle-50"))
	b.click(field("Select toggle-51"))
	for _, path := range []string{"/api/admin/projects/many/features/toggle-51", "/api/admin/archive/toggle-51"} {
		send[any](t, s, s.pat("editor"), http.MethodDelete, path, "")
	}
	b.click(button("Archive"))
	b.click(button("Archive"))
	b.sees("1 toggle could not be changed", "1 toggle archived.", "There is no toggle with the name \"toggle-51\"")
	b.click(button("Close"))
	b.sees("51–58 of 58", "Archived\n1")
}
