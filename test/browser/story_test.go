package browser_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local"
)

// TestCleanUp is what the console is for: import the toggles of an Unleash, see which toggles are potentially stale,
// shorten a lifetime after a look at what that does, archive three toggles, see who did it, and undo the lifetime. With
// SCREENSHOTS, it takes the screenshots of docs/console.md.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	now, data := time.Now(), t.TempDir() // toggleadmin creates toggles at the current time
	s := start(t, local.Config{Now: func() time.Time { return now }, DataDir: data})
	output, err := exec.CommandContext(t.Context(), "go", "run", "toggleadmin/cmd/toggleadmin", "import", "file",
		"--local", "--data-dir", data, "testdata/unleash.json").CombinedOutput()
	if err != nil || !strings.Contains(string(output), "toggles: 5 created, 0 updated, 0 unchanged, 0 skipped") {
		t.Fatalf("%v\n%s", err, output)
	}
	b := openTab(t, s)
	b.freeze(now)
	b.signIn("admin", "#/toggles?sortBy=createdAt&sortOrder=desc")
	b.sees("1–12 of 12 toggles", "one-click-checkout", "Lets guests write reviews")
	b.shot("cleanup-1-import")
	b.click(link("Potentially stale 2"))
	b.sees("1–2 of 2 toggles", "new-checkout", "rate-limit")
	b.shot("cleanup-2-stale")

	b.open("Toggle types")
	b.click(button("Edit lifetime of Experiment"))
	b.replace(field("Days"), "30")
	b.click(button("Save"))
	b.sees("40 days → 30 days", "1 toggle becomes potentially stale; 1 event is sent.")
	b.shot("cleanup-3-preview")
	b.click(button("Change lifetime"))
	b.click(link("1 potentially stale toggle of type Experiment"))
	b.sees("search-ranking", "1–1 of 1 toggle")

	b.open("Toggles")
	b.click(link("Potentially stale 3"))
	b.sees("1–3 of 3 toggles")
	b.click(field("Select all on this page"))
	b.sees("3 selected")
	b.click(button("Archive"))
	b.sees("Archive: 3 toggles?")
	b.shot("cleanup-4-archive")
	b.click(button("Archive").inDialog())
	b.sees("3 toggles archived.", "Nothing is overdue.")

	b.open("Event log")
	b.choose(field("Type"), "Toggle archived")
	b.click(button("Show events"))
	b.sees("1–3 of 3", "admin archived the toggle")
	b.shot("cleanup-5-events")

	b.open("Toggle types")
	b.click(link("History of toggle type Experiment"))
	b.sees("from 40 days to 30 days")
	b.goBack()
	b.find(link("1 toggle of type Permission"))
	b.shot("cleanup-6-undo")
	b.click(button("Undo the change of the lifetime of Experiment"))
	b.await("the lifetime is 40 days", func() (bool, error) { return *s.lifetime(t, "experiment") == 40, nil })
	for _, name := range []string{"new-checkout", "search-ranking"} {
		if status, got := s.toggle(t, name); status != http.StatusOK || got["archived"] != true {
			t.Errorf("%s: status %d, %v", name, status, got)
		}
	}
}
