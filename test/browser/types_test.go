package browser_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
)

// lifetime returns the lifetime of a toggle type as the API reports it, nil for none.
func (s *service) lifetime(t *testing.T, id string) *int {
	t.Helper()
	_, list := send[struct {
		Types []struct {
			ID           string
			LifetimeDays *int
		}
	}](t, s, s.pat("viewer"), http.MethodGet, "/api/admin/feature-types", "")
	for _, item := range list.Types {
		if item.ID == id {
			return item.LifetimeDays
		}
	}
	t.Fatalf("there is no toggle type %s", id)
	return nil
}

// A change says first what it does, and can be undone.
func TestChangeALifetime(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	s.createToggle(t, "default", "young")
	b := openTab(t, s)
	b.mayLog("status of 400")
	b.signIn("admin", "#/types")
	b.sees("40 days")
	b.find(link("4 toggles of type Release"))
	b.find(link("1 potentially stale toggle of type Release"))

	b.click(button("Edit lifetime of Release"))
	b.replace(field("Days"), "soon")
	b.click(button("Save"))
	b.seesError(field("Days"), "Enter a whole number of days")
	b.replace(field("Days"), "99999999999")
	b.click(button("Save"))
	b.sees("1 toggle no longer is potentially stale; 1 event is sent.")
	b.click(button("Change lifetime"))
	b.seesError(field("Days"), "99999999999") // the API's message
	b.replace(field("Days"), "2")
	b.sees("potentially stale 2 days after")
	b.click(button("Save"))
	b.sees("40 days → 2 days", "1 toggle becomes potentially stale; 1 event is sent.")
	if diff := cmp.Diff(new(40), s.lifetime(t, "release")); diff != "" {
		t.Error("before the answer: " + diff)
	}
	b.click(button("Change lifetime"))
	b.sees("2 days", "was 40 days")
	if diff := cmp.Diff(new(2), s.lifetime(t, "release")); diff != "" {
		t.Error(diff)
	}
	b.find(link("2 potentially stale toggles of type Release"))
	b.click(button("Undo the change of the lifetime of Release"))
	b.sees("40 days")
	b.find(link("1 potentially stale toggle of type Release"))

	b.click(button("Edit lifetime of Release"))
	b.replace(field("Days"), "3") // of dark-mode, which is a little older, and of no other
	b.click(button("Save"))
	b.sees("1 toggle becomes potentially stale; 1 event is sent.")
	b.click(button("Cancel").inDialog())
	b.click(field("Never"))
	b.click(button("Save"))
	b.click(button("Change lifetime"))
	b.sees("Never was 40 days")
	if got := s.lifetime(t, "release"); got != nil {
		t.Errorf("the lifetime is %d", *got)
	}
	b.reload()
	b.sees("Release")
	b.is("!" + rowOf("Release") + ".innerText.includes('40 days')")
}

// inDialog is the element in the dialog that was opened last.
func (e element) inDialog() element {
	e.in = "[...document.querySelectorAll('dialog')].at(-1)"
	return e
}
