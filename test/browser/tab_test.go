package browser_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a tab waits for a condition.
const patience = 20 * time.Second

// tab is a tab of the browser.
type tab struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // chromedp's handle of the tab
	service *service
	script  *testscript.TestScript // that runs the current command; nil outside of scripts

	mu       sync.Mutex
	problems []string
	requests []*network.Request
	allowed  []string // parts of messages in the console
}

// openTab opens an empty tab without cookies and storage of other tabs.
func openTab(tb testing.TB, s *service) *tab {
	tb.Helper()
	return newTab(chromium.context(tb), tb, s, chromedp.WithNewBrowserContext())
}

// newTab opens an empty tab in the window of the parent context.
func newTab(parent context.Context, tb testing.TB, s *service, options ...chromedp.ContextOption) *tab {
	tb.Helper()
	b := &tab{t: tb, service: s}
	limited, stop := context.WithTimeout(parent, 15*patience)
	tb.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(limited, append(options, chromedp.WithListener(b.record))...)
	tb.Cleanup(cancel)
	b.ctx = ctx
	// All tabs of a process behave as if they had the focus.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	call(b, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-US"})
	b.resize(1200, 900)
	tb.Cleanup(b.check)
	return b
}

// record is called for every event of the tab.
func (b *tab) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems,
			(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()+" "+e.ExceptionDetails.URL)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text := "console." + string(e.Type)
			for _, argument := range e.Args {
				text += " " + string(argument.Value) + argument.Description
			}
			b.problems = append(b.problems, text)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request)
		if target, err := url.Parse(e.Request.URL); err != nil || !b.service.serves(target) {
			b.problems = append(b.problems, "request to "+e.Request.URL)
		}
	}
}

// mayLog permits messages that contain a text. The browser logs each response with an error status.
func (b *tab) mayLog(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, texts...)
}

// check reports what no test may cause. If the test has failed, it shows the page.
func (b *tab) check() {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location + '\\n' + document.body?.innerText"))
	if err != nil {
		b.t.Errorf("the tab has ended: %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		if !slices.ContainsFunc(b.allowed, func(part string) bool { return strings.Contains(problem, part) }) {
			b.t.Error(problem)
		}
	}
	if b.t.Failed() {
		b.t.Logf("the page at the end: %s", text)
		if image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot()); err == nil {
			_ = os.WriteFile(filepath.Join(b.t.ArtifactDir(), "page.png"), image, 0o600)
		}
	}
}

// await waits until a condition is true. An error means that it is not: the page may be changing.
func (b *tab) await(what string, condition func() (bool, error)) {
	b.t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := condition()
		if done && err == nil {
			return
		}
		select {
		case <-end:
			b.t.Fatalf("not within %s: %s: %v", patience, what, err)
		case <-tick.C:
		}
	}
}

// visit loads a page of the service.
func (b *tab) visit(path string) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.Navigate(b.service.BaseURL+path)))
}

func (b *tab) reload() {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.Reload()))
}

// resize sets the size of the window's content in CSS pixels.
func (b *tab) resize(width, height int64, options ...chromedp.EmulateViewportOption) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height, options...)))
}

// sees waits until all texts are visible.
func (b *tab) sees(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.is(fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// seesNo waits until the text is not visible.
func (b *tab) seesNo(text string) {
	b.t.Helper()
	b.is(fmt.Sprintf("!document.body.innerText.includes(%q)", text))
}

// is waits until a JavaScript expression is true.
func (b *tab) is(expression string) {
	b.t.Helper()
	b.await(expression, func() (bool, error) {
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
	})
}

// press presses keys, such as kb.Tab.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// fill replaces the value of a field.
func (b *tab) fill(label, value string) {
	b.t.Helper()
	b.click("field", label)
	b.press("a", chromedp.ModifierCtrl)
	b.press(kb.Delete)
	call(b, input.InsertText, input.InsertTextParams{Text: value})
}

// evaluate evaluates a JavaScript expression. It waits for promises.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return result
}

// open opens a page by its link.
func (b *tab) open(page string) {
	b.t.Helper()
	b.click("link", page)
	b.find("heading", page)
}

// setFragment goes to a fragment of the page.
func (b *tab) setFragment(fragment string) {
	b.t.Helper()
	b.run(fmt.Sprintf("location.hash = %q", fragment))
}

// requested returns how many requests of the tab have a URL that contains a text.
func (b *tab) requested(part string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.requests {
		if strings.Contains(request.URL, part) {
			n++
		}
	}
	return n
}

// hasRequested checks how many requests of the tab have a URL that contains a text.
func (b *tab) hasRequested(n, part string) {
	b.t.Helper()
	if got := fmt.Sprint(b.requested(part)); got != n {
		b.t.Errorf("%s requests of %s, want %s", got, part, n)
	}
}

// offline cuts the tab off from the URLs that match a pattern, or from all. online ends that.
func (b *tab) offline(pattern ...string) { b.t.Helper(); b.connect(true, strings.Join(pattern, "")) }
func (b *tab) online()                   { b.t.Helper(); b.connect(false, "") }

func (b *tab) connect(offline bool, pattern string) {
	b.t.Helper()
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{URLPattern: pattern, Offline: offline, DownloadThroughput: -1,
			UploadThroughput: -1}},
	})
}

func (b *tab) clearCookies() { b.t.Helper(); call(b, network.ClearBrowserCookies, cdp.Empty{}) }

// allowClipboard lets the page write to the clipboard, and the test read it.
func (b *tab) allowClipboard() {
	b.t.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			Origin: b.service.BaseURL, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		must(b.t, err)
	}
}

// copied sets a variable of the script to what is in the clipboard.
func (b *tab) copied(variable string) {
	b.t.Helper()
	b.script.Setenv(variable, evaluate[string](b, "navigator.clipboard.readText()"))
}
