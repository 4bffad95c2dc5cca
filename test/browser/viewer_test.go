package browser_test

import (
	"testing"

	"toggleadmin/pkg/local"
)

// Actions that a user may not perform are not shown.
func TestViewerSeesNoForbiddenAction(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.signIn("viewer", "#/types")
	b.sees("40 days")
	b.seesOnlyButtons("Sign out")
	b.open("Toggles")
	b.sees("1–7 of 7 toggles")
	b.seesOnlyButtons("Sign out")
	b.click(link("new-checkout"))
	b.sees("appName")
	b.seesOnlyButtons("Sign out")
	b.open("Context fields")
	b.sees("currentTime")
	b.seesOnlyButtons("Sign out")
	b.open("Tokens")
	b.find(button("Create token"))
	b.seesNo("service accounts")
	b.seesOnlyButtons("Sign out", "Create token", "Rotate token seed", "Delete token seed")
	for _, name := range []string{"Traffic", "Event log", "Service accounts", "Activity of token seed"} {
		if b.has(link(name)) {
			t.Errorf("there is a link %q", name)
		}
	}
	run[string](b, "location.hash = '#/traffic'")
	b.sees(`You need the "ADMIN" permission`)
	if b.requested("/api/admin/service-account") > 0 {
		t.Error("the page requests what the API refuses")
	}
}

// seesOnlyButtons checks the names of all buttons, besides those that search and sort.
func (b *tab) seesOnlyButtons(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.find(button(name))
	}
	if all := run[int](b,
		"[...document.querySelectorAll('button, input, select, textarea')].filter(e => !e.closest('.filters, .sort')).length"); all != len(names) {
		b.t.Errorf("the page has %d buttons and fields, not only %q", all, names)
	}
}
