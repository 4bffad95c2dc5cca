package browser_test

import (
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/local"
)

// TestWhoDeletedTheToken makes a token of a service account, uses it to make another, deletes it, and finds in the
// event log who did what.
func TestWhoDeletedTheToken(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	expires := time.Now().Add(time.Hour).Format(time.RFC3339)
	first := s.create(t, "admin", "/api/admin/user/tokens", map[string]any{"description": "leaked", "expiresAt": expires})
	status, second := send[created](t, s, first.Secret, "POST", "/api/admin/user/tokens",
		fmt.Sprintf(`{"description":"made by it","expiresAt":%q}`, expires))
	if status != 201 {
		t.Fatal(status)
	}
	b := openTab(t, s)
	b.mayLog("status of 400")
	b.signIn("admin", "#/tokens")
	b.click(button("Delete token leaked"))
	b.click(button("Delete token"))
	b.seesNo("leaked")

	b.open("Event log")
	b.sees("All events")
	b.choose(field("Type"), "Token deleted")
	b.click(button("Show events"))
	b.sees("Matching events", "1–1 of 1", fmt.Sprintf("admin deleted the token %v (leaked).", first.ID))
	b.is("location.hash === '#/events?type=pat-deleted' && document.activeElement.innerText === 'Show events'")
	b.reload()
	b.sees("1–1 of 1") // the address is enough
	b.click(link(fmt.Sprintf("token %v", first.ID)))
	b.find(heading(fmt.Sprintf("History of token %v", first.ID)))
	b.sees("Token created", "Token deleted")
	b.reload()
	b.click(link("What was done with it").inItem("Token deleted"))
	b.find(heading(fmt.Sprintf("What was done with token %v", first.ID)))
	b.sees(fmt.Sprintf("created the token %v (made by it)", second.ID), "1–1 of 1")

	b.goBack()
	b.find(heading(fmt.Sprintf("History of token %v", first.ID)))
	b.click(button("Clear filters"))
	b.sees("All events")
	b.replace(field("Who"), "Nobody")
	b.click(button("Show events"))
	b.seesError(field("Who"), "No user or service account with this name")
	b.replace(field("Who"), "ADMIN")
	b.click(button("Show events"))
	b.find(heading("What admin did"))
	b.replace(field("Who"), "0")
	b.click(button("Show events"))
	b.seesError(field("Who"), "must have ids that are positive integers")
	b.replace(field("Who"), "")
	b.replace(field("Text"), "no such text")
	b.click(button("Show events"))
	b.sees("No event matches the filters.")
	b.click(link("show all events"))
	b.sees("All events")
	run[string](b, "location.hash = '#/events?from=2026-02-30'")
	b.sees("parameter must be IS: and a date", "Request ID: ")
}

// TestHistoryOfAType changes a lifetime and reads its history, with the values before and after.
func TestHistoryOfAType(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	b := openTab(t, s)
	b.signIn("admin", "#/types")
	b.click(link("History of toggle type Release"))
	b.sees("No event matches the filters.")
	b.goBack()
	b.click(button("Edit lifetime of Release"))
	b.replace(field("Days"), "14")
	b.click(button("Save"))
	b.click(button("Change lifetime"))
	b.sees("14 days")
	b.click(link("History of toggle type Release"))
	b.find(heading("History of toggle type release"))
	b.sees("admin changed the lifetime of the toggle type release from 40 days to 14 days.", "Changed")
	b.is("document.querySelector('del').innerText === '40' && document.querySelector('ins').innerText === '14' && " +
		"document.querySelectorAll('del, ins').length === 2 && document.querySelectorAll('.changes .badge').length === 1")
	b.await("the flags have changed", func() (bool, error) {
		_, found := send[struct{ Total int }](t, s, s.pat("admin"), "GET",
			"/api/admin/search/events?type=IS:feature-potentially-stale-on", "")
		return found.Total > 0, nil
	})
	b.click(link("Toggles whose flag it changed"))
	b.sees("Matching events", "became potentially stale")
	b.is("[...document.querySelectorAll('.facts')].every(facts => facts.innerText.includes('Cause'))")
}

// TestPagesOfEvents goes to older events and back.
func TestPagesOfEvents(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	for days := range 51 {
		send[any](t, s, s.pat("admin"), "PUT", "/api/admin/feature-types/permission/lifetime",
			fmt.Sprintf(`{"lifetimeDays":%d}`, 1000+days))
	}
	b := openTab(t, s)
	b.signIn("admin", "#/events?subject=type:permission")
	b.sees("1–50 of 51", "to 1050 days")
	b.click(link("Older events ›"))
	b.sees("51–51 of 51", "to 1000 days")
	b.click(link("‹ Newer events"))
	b.sees("1–50 of 51")
}

// inItem is the element in the event with a label.
func (e element) inItem(label string) element {
	e.in = fmt.Sprintf("[...document.querySelectorAll('.events > li')].find(item => item.innerText.includes(%q))", label)
	return e
}

// choose chooses an option of a list.
func (b *tab) choose(list element, label string) {
	b.t.Helper()
	on[bool](b, list, fmt.Sprintf("e => { e.value = [...e.options].find(o => o.label === %q).value; "+
		"e.dispatchEvent(new Event('change', {bubbles: true})); return true }", label))
}
