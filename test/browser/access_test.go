package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"toggleadmin/pkg/local"
)

// wholePage is an expression of what axe checks.
const wholePage = "document"

// states are what users see: each page and each dialog. Opening one begins on the page of the toggle types, as the
// admin.
var states = []struct {
	name  string
	parts string // that axe checks
	open  func(b *tab)
}{
	{"toggles", wholePage, func(b *tab) {
		b.open("Toggles")
		b.click(field("Select new-checkout"))
		b.sees("1 selected", "Marked as stale\n1")
	}},
	{"create a toggle", wholePage, func(b *tab) {
		b.open("Toggles")
		b.click(button("Create toggle"))
		b.click(button("Create toggle"))
		b.seesError(field("Name"), "must not be empty")
	}},
	{"archive a toggle", wholePage, func(b *tab) {
		b.open("Toggles")
		b.click(field("Select new-checkout"))
		b.click(button("Archive"))
		b.sees("can be revived")
	}},
	{"a toggle", wholePage, func(b *tab) {
		b.open("Toggles")
		b.click(link("new-checkout"))
		b.sees("History", "appName")
	}},
	{"toggle types", wholePage, func(b *tab) { b.sees("40 days") }},
	{"an edited lifetime with an error", wholePage, func(b *tab) {
		b.click(button("Edit lifetime of Release"))
		b.replace(field("Days"), "x")
		b.click(button("Save"))
		b.seesError(field("Days"), "Enter a whole number")
	}},
	{"context fields", wholePage, func(b *tab) { b.open("Context fields"); b.sees("currentTime") }},
	{"create a context field", wholePage, func(b *tab) {
		b.open("Context fields")
		b.click(button("Create context field"))
		b.replace(field("Name"), "not valid")
		b.click(button("Add legal value"))
		b.click(button("Create context field"))
		b.seesError(field("Name"), "not valid")
	}},
	{"leave a context field", wholePage, func(b *tab) {
		b.open("Context fields")
		b.click(button("Edit context field userId"))
		b.replace(field("Description"), "changed")
		b.click(button("Cancel"))
		b.find(button("Keep editing"))
	}},
	{"delete a context field", wholePage, func(b *tab) {
		b.open("Context fields")
		b.click(button("Delete context field userId"))
		b.click(button("Delete context field"))
		b.is("document.querySelector('dialog [role=alert]').innerText !== ''")
	}},
	{"tokens", wholePage, func(b *tab) { b.open("Tokens"); b.sees("seed") }},
	{"create a token", wholePage, func(b *tab) {
		b.open("Tokens")
		b.click(button("Create token"))
		b.click(button("Create token"))
		b.seesError(field("Description"), "Enter a description.")
	}},
	{"a created token", wholePage, func(b *tab) {
		b.open("Tokens")
		b.click(button("Create token"))
		b.replace(field("Description"), fmt.Sprint("token ", len(b.sent())))
		b.click(button("Create token"))
		b.sees("only time that the secret is shown")
	}},
	{"service accounts", wholePage, func(b *tab) { b.open("Service accounts"); b.sees("ci", "There are no tokens") }},
	{"create a service account", wholePage, func(b *tab) {
		b.open("Service accounts")
		b.click(button("Create service account"))
		b.click(button("Create service account"))
		b.seesError(field("User name"), "must not be empty")
	}},
	{"rotate a token", wholePage, func(b *tab) {
		b.open("Tokens")
		b.click(button("Rotate token seed"))
		b.replace(field("Description"), fmt.Sprint("rotated ", len(b.sent())))
		b.click(button("Create the new token"))
		b.sees("Does everything use the new token?")
	}},
	{"delete a token", wholePage, func(b *tab) {
		b.open("Tokens")
		b.click(button("Delete token seed"))
		b.sees("This cannot be undone.")
	}},
	{"the event log with an error", wholePage, func(b *tab) {
		b.open("Event log")
		b.sees("All events")
		b.click(element{[]string{"DisclosureTriangle"}, "More filters", "document"})
		b.replace(field("Who"), "0")
		b.click(button("Show events"))
		b.seesError(field("Who"), "positive integers")
	}},
	{"a history", wholePage, func(b *tab) {
		b.click(button("Edit lifetime of Experiment"))
		b.replace(field("Days"), fmt.Sprint(100+len(b.sent())))
		b.click(button("Save"))
		b.click(button("Change lifetime"))
		b.sees("Saved.")
		b.click(link("History of toggle type Experiment"))
		b.sees("Changed")
	}},
	{"traffic", wholePage, func(b *tab) { b.open("Traffic"); b.sees("By path") }},
	// All operations have the same form, and axe needs half a minute for them.
	{"API reference", `{include: ['header', ...['nav', '#overview', '[id="put-/api/admin/feedback/-id-"]'].map(part => ` +
		`({fromShadowDom: ['rapi-doc', part]}))]}`, func(b *tab) {
		b.sees("40 days") // the link moves when the list is loaded
		b.click(link("API reference"))
		b.find(heading("API reference"))
		b.find(heading("Get traffic usage for a period"))
	}},
	{"sign in", wholePage, func(b *tab) {
		b.click(button("Sign out"))
		b.find(field("Personal access token"))
	}},
}

// open opens a page by its link.
func (b *tab) open(page string) {
	b.t.Helper()
	b.click(link(page))
	b.find(heading(page))
}

// Nothing on any page or dialog violates a rule of axe: on a small telephone in light mode, and on a large screen in
// dark mode. Nothing is wider than the window.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	now := time.Now().UTC()
	s.countTraffic(t, monthOfTraffic(now.Year(), now.Month(), now.Day()))
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, s)
			b.mayLog("status of 400", "status of 409")
			b.resize(360, 740)
			b.signIn("admin", "#/types")
			state.open(b)
			b.fitsTheWindow()
			b.hasNoViolations(state.parts)
			for _, width := range []int64{390, 720, 1024} { // 720 is also 1440 with a zoom of 200 %
				b.resize(width, 900)
				b.fitsTheWindow()
			}
			b.resize(1200, 900)
			b.dark(true)
			b.hasNoViolations(state.parts)
		})
	}
}

// fitsTheWindow checks that the page does not scroll horizontally.
func (b *tab) fitsTheWindow() {
	b.t.Helper()
	if wide := run[[]string](b, `(root => root.scrollWidth <= root.clientWidth ? [] :
		[...root.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > root.clientWidth).map(e => e.outerHTML.slice(0, 200)))(document.documentElement)`); len(wide) > 0 {
		b.t.Errorf("the page is wider than the window:\n%s", strings.Join(wide, "\n"))
	}
}

// hasNoViolations runs all rules of axe on parts of the page.
func (b *tab) hasNoViolations(parts string) {
	b.t.Helper()
	axe, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	must(b.t, err)
	run[chromedp.Void](b, string(axe))
	for _, violation := range run[[]string](b,
		`axe.run(`+parts+`).then(({violations, passes}) => passes.length === 0 ? ['axe has checked nothing'] :
		violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + '\n' + n.failureSummary)))`) {
		b.t.Error(violation)
	}
}

// The keyboard alone is enough. The focus is visible, on one thing at a time, and never lost.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.visit("/console/")
	b.find(field("Personal access token"))
	b.tabTo("Personal access token")
	b.press(b.service.pat("admin"))
	b.press(kb.Enter)
	b.sees("1–7 of 7 toggles")

	b.tabTo("Search")
	b.press("CHECKOUT")
	b.sees("1–1 of 1 toggle")
	b.tabTo("Select new-checkout")
	b.press(" ")
	b.tabTo("Mark as stale")
	b.press(kb.Enter)
	b.sees("Mark as stale: toggle?")
	b.press(kb.Escape)
	b.focusIs("Mark as stale")
	b.press(kb.Enter)
	b.tabTo("Mark as stale")
	b.press(kb.Enter)
	b.focusIs("Undo")
	b.press(kb.Enter)
	b.sees("1 toggle no longer marked as stale.")
	b.tabTo("new-checkout")
	b.press(kb.Enter)
	b.focusIs("new-checkout")
	b.tabTo("Edit")
	b.press(kb.Enter)
	b.focusIs("Description")
	b.press("old")
	b.press(kb.Escape)
	b.tabTo("Keep editing")
	b.press(kb.Enter)
	b.focusIs("Description")
	b.press(kb.Escape)
	b.tabTo("Discard changes")
	b.press(kb.Enter)
	b.focusIs("Edit")

	b.tabTo("Toggle types")
	b.press(kb.Enter)
	b.sees("40 days")
	b.tabTo("Edit lifetime of Release")
	b.press(kb.Enter)
	b.focusIs("Days")
	b.press("21") // replaces the value, which is selected
	b.press(kb.Escape)
	b.focusIs("Edit lifetime of Release")
	b.sees("40 days")
	b.press(kb.Enter)
	b.focusIs("Days")
	b.press("14")
	b.press(kb.Enter)
	b.focusIs("Change lifetime")
	b.press(kb.Enter)
	b.sees("14 days", "was 40 days")
	b.focusIs("Edit lifetime of Release")

	b.tabTo("Tokens")
	b.press(kb.Enter)
	b.focusIs("Tokens")
	b.tabTo("Create token")
	b.press(kb.Enter)
	b.focusIs("Description")
	b.press("laptop")
	b.press(kb.Enter)
	b.sees("only time that the secret is shown")
	b.press(kb.Escape)
	b.press(kb.Escape)
	b.sees("You have not copied the secret")
	b.tabTo("Copy")
	b.press(kb.Enter)
	b.tabTo("Done")
	b.press(kb.Enter)
	b.focusIs("Create token")
	b.tabTo("Delete token laptop")
	b.press(kb.Enter)
	b.sees("This cannot be undone.")
	b.press(kb.Escape)
	b.focusIs("Delete token laptop")
	b.press(kb.Enter)
	b.tabTo("Delete token")
	b.press(kb.Enter)
	b.focusIs("Create token")
	b.seesNo("laptop")

	b.tabTo("Event log")
	b.press(kb.Enter)
	b.focusIs("Event log")
	b.tabTo("Text")
	b.press("laptop")
	b.press(kb.Enter)
	b.sees("Matching events", "1–2 of 2")
	b.tabTo("What was done with it")
	b.press(kb.Enter)
	b.focusIs("Event log")
	b.sees("No event matches the filters.")

	b.tabTo("Sign out")
	b.press(kb.Enter)
	b.sees("You are signed out.")
	b.hasFocus()
}

// focused describes the focus.
type focused struct {
	Name    string // what users call the element
	Visible bool   // it has an outline, or another sign of the focus
	Lost    bool
}

// focus returns what has the focus.
func (b *tab) focus() focused {
	b.t.Helper()
	return run[focused](b, `(e => {
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		return {
			Name: (e.ariaLabel ?? (e.labels?.[0] ?? e).innerText).replace(/\s+/g, ' ').trim(),
			Visible: e.matches('main, h1, h2') || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.height > 0),
			Lost: e === document.body,
		};
	})(document.activeElement)`)
}

// hasFocus checks that something has the focus, visibly.
func (b *tab) hasFocus() {
	b.t.Helper()
	if now := b.focus(); now.Lost || !now.Visible {
		b.t.Fatalf("the focus is not visible: %+v", now)
	}
}

// focusIs waits until an element with the name has the focus.
func (b *tab) focusIs(name string) {
	b.t.Helper()
	b.await("the focus is on "+name, func() (bool, error) { return b.focus().Name == name, nil })
	b.hasFocus()
}

// tabTo presses the tab key until an element with the name has the focus.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	for range 100 {
		b.press(kb.Tab)
		now := b.focus()
		if now.Name == name {
			b.hasFocus()
			return
		}
		if !now.Lost { // the focus leaves the page after its last element
			b.hasFocus()
		}
	}
	b.t.Fatalf("the tab key does not reach %q", name)
}
