package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/helper/assert"
)

// patience is how long a tab waits for a condition.
const patience = time.Minute

// credential matches all credentials, except ID tokens. It is longer than the random IDs in URLs and in the log.
var credential = regexp.MustCompile(`v2_[\w-]{60,}`)

// protected matches the URLs that get a credential: those of operations, and of the exchange of a printed code.
var protected = regexp.MustCompile(`^http://[^/]+/(api|local)/`)

// strayValues reports a value of JavaScript that a page shows as text, such as the result of a condition.
const strayValues = `new MutationObserver(() => {
	const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const {data, parentElement} = texts.currentNode;
		if (/^\s*(false|true|null|undefined|NaN|\[object Object\])\s*$/.test(data)) {
			console.error('text of the page: ' + data + ' in ' + parentElement?.outerHTML.slice(0, 200));
		}
	}
}).observe(document, {childList: true, characterData: true, subtree: true})`

// tab is a tab of the browser.
type tab struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // chromedp's handle of the tab
	service *service
	script  *testscript.TestScript // that runs the current command; nil outside of scripts
	others  []context.Context      // handles of other tabs of the same window

	mu       sync.Mutex
	problems []string
	requests []string // URLs
	writes   []string // methods and URLs of requests to operations that can change something
	allowed  []string // parts of messages in the console
}

// openTab opens an empty tab without cookies and storage of other tabs. Pages may use the clipboard, and save files in
// the folder of the script.
func openTab(tb testing.TB, s *service) *tab {
	tb.Helper()
	b := &tab{t: tb, service: s}
	limited, stop := context.WithTimeout(chromium.context(tb), 15*patience) // each wait has its own limit
	tb.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(limited, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.record))
	tb.Cleanup(cancel)
	b.ctx = ctx
	// All tabs of a process behave as if they had the focus.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.setTimeZone("UTC")
	call(b, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-US"})
	b.resize(1200, 900)
	b.runFirst(strayValues)
	if !s.Clock.IsZero() {
		b.runFirst(clockAt(s.Clock))
	}
	window := chromedp.FromContext(ctx).BrowserContextID
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: window, DownloadPath: s.folder,
	})
	assert.OK(tb, err)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			Origin: s.BaseURL, BrowserContextID: window,
		})
		assert.OK(tb, err)
	}
	tb.Cleanup(b.check)
	return b
}

// runFirst runs JavaScript before the scripts of each page that is loaded from now on.
func (b *tab) runFirst(code string) {
	b.t.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: code})
}

// newTab opens a page in a new tab of the same window, where the commands after it act.
func (b *tab) newTab(path string) {
	b.t.Helper()
	b.others = append(b.others, b.ctx)
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithListener(b.record),
		chromedp.WithExistingBrowserContext(chromedp.FromContext(b.ctx).BrowserContextID))
	b.t.Cleanup(cancel)
	b.ctx = ctx
	b.resize(1200, 900)
	b.visit(path)
}

// closeTab closes a tab that newTab has opened.
func (b *tab) closeTab() {
	b.t.Helper()
	assert.OK(b.t, chromedp.Cancel(b.ctx))
	b.switchTab()
	b.others = b.others[:len(b.others)-1]
}

// switchTab makes the commands after it act in the tab before the newest one.
func (b *tab) switchTab() {
	b.t.Helper()
	last := len(b.others) - 1
	b.ctx, b.others[last] = b.others[last], b.ctx
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
		b.requests = append(b.requests, e.Request.URL)
		if e.Request.Method != http.MethodGet && protected.MatchString(e.Request.URL) {
			b.writes = append(b.writes, e.Request.Method+" "+e.Request.URL)
		}
		if target, err := url.Parse(e.Request.URL); err != nil || !b.service.serves(target) {
			b.problems = append(b.problems, "request to "+e.Request.URL)
		}
		_, authorized := e.Request.Headers["Authorization"]
		delete(e.Request.Headers, "Authorization")
		if sent := fmt.Sprint(e.Request.URL, e.Request.Headers); credential.MatchString(sent) ||
			authorized != protected.MatchString(e.Request.URL) {
			b.problems = append(b.problems, fmt.Sprintf("with authorization: %t: %s", authorized, sent))
		}
	}
}

// mayLog permits messages that contain a text. The browser logs each response with an error status.
func (b *tab) mayLog(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, texts...)
}

// reports waits for messages that contain texts, and permits them.
func (b *tab) reports(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.await("the message "+text, func() (bool, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return strings.Contains(strings.Join(b.problems, "\n"), text), nil
		})
	}
	b.mayLog(texts...)
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
	if log := b.service.log.String(); credential.MatchString(log) {
		b.t.Errorf("the service has logged a credential:\n%s", log)
	}
	if b.t.Failed() {
		b.t.Logf("the page at the end: %s", text)
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		if image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
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

// signIn signs a seeded person in and waits for the page with the fragment.
func (b *tab) signIn(name, fragment string) {
	b.t.Helper()
	for _, u := range b.service.Users {
		if u.Name == name {
			b.enter(u.PAT, fragment)
		}
	}
	b.is(fmt.Sprintf("document.getElementById('account').innerText.includes(%q)", name))
}

// enter opens a page with a token.
func (b *tab) enter(token, fragment string) {
	b.t.Helper()
	b.visit("/console/")
	b.run(fmt.Sprintf("sessionStorage.setItem('toggleadmin.token', %q)", token))
	b.reload()
	b.setFragment(fragment)
}

// issuerSignIn signs in through the issuer, beginning on the sign-in page.
func (b *tab) issuerSignIn(login string) {
	b.t.Helper()
	b.await("the service knows the issuer", func() (bool, error) { // on a busy machine, the first request can be too slow
		known, err := chromedp.Run(b.ctx,
			chromedp.Evaluate[bool]("!document.getElementById('config').textContent.includes('issuerError')"))
		if err == nil && !known {
			b.reload()
		}
		return known, err
	})
	b.click("button", "Sign in with "+b.script.Getenv("ISSUER"))
	b.fill("Login", login)
	b.click("button", "Continue")
}

// imagesFolder has the screenshots of the documentation, and the text of the page that each shows.
const imagesFolder = "../../docs/images"

// variable matches what differs from run to run: ids of events and requests, secrets and ports.
var variable = regexp.MustCompile(`\b\d{12,}\b|[\w+/-]{15}=|v2_[\w-]{60,}|127\.0\.0\.1:\d+`)

// shot checks that a screenshot of the documentation shows the page as it is, by its text. If SCREENSHOTS is set, it
// takes the screenshot instead. The scheme is light or dark; without it, light.
func (b *tab) shot(name string, scheme ...string) {
	b.t.Helper()
	b.resize(1440, 900, chromedp.EmulateScale(1.25))
	defer b.resize(1200, 900)
	if len(scheme) > 0 {
		b.media("prefers-color-scheme", scheme[0])
		defer b.media("", "")
	}
	b.is(`![...document.querySelectorAll('main *')].some(e => e.childElementCount === 0 && e.textContent === '…')`)
	b.seesNo("Loading")
	b.seesNo("Re-evaluating")
	text := evaluate[string](b, "document.querySelector('main').innerText") + "\n"
	text = variable.ReplaceAllString(text, "…")
	path := filepath.Join(imagesFolder, name)
	if os.Getenv("SCREENSHOTS") == "" {
		want, err := os.ReadFile(path + ".txt")
		assert.OK(b.t, err)
		if !slices.Equal(sortedLines(string(want)), sortedLines(text)) {
			b.t.Errorf("docs/images/%s.png shows another page: run make screenshots", name)
			assert.Equal(b.t, string(want), text)
		}
		return
	}
	call(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	b.run("document.activeElement.blur(); document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	assert.OK(b.t, err)
	if len(image) > 300_000 {
		b.t.Errorf("%s has %d bytes", name, len(image))
	}
	assert.OK(b.t, errors.Join(
		os.WriteFile(path+".png", image, 0o644), os.WriteFile(path+".txt", []byte(text), 0o644)))
}

// sortedLines returns the lines of a text in alphabetical order: events of the same moment have no order.
func sortedLines(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }

// clockAt is JavaScript after which the clock of a page stands still at a time.
func clockAt(t time.Time) string {
	return fmt.Sprintf(`{
		const now = %d;
		globalThis.Date = class extends Date {
			constructor(...a) { a.length ? super(...a) : super(now); }
			static now() { return now; }
		};
	}`, t.UnixMilli())
}

// visit loads a page of the service.
func (b *tab) visit(path string) {
	b.t.Helper()
	assert.OK(b.t, chromedp.Do(b.ctx, chromedp.Navigate(b.service.BaseURL+path)))
}

func (b *tab) reload() {
	b.t.Helper()
	assert.OK(b.t, chromedp.Do(b.ctx, chromedp.Reload()))
}

// resize sets the size of the window's content in CSS pixels.
func (b *tab) resize(width, height int64, options ...chromedp.EmulateViewportOption) {
	b.t.Helper()
	assert.OK(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height, options...)))
}

func (b *tab) setWidth(pixels string) {
	b.t.Helper()
	width, err := strconv.ParseInt(pixels, 10, 64)
	assert.OK(b.t, err)
	b.resize(width, 900)
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

// press presses keys, such as kb.Tab. chromedp.KeyEvent sends a character as an event of its own: a page that prevents
// the key's event, or moves the focus in it, gets the character all the same.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	for _, key := range keys {
		for _, event := range kb.Encode(key) {
			chromedp.KeyModifiers(modifiers...)(event)
			if event.Type == kb.KeyChar {
				continue
			}
			if event.Type == kb.KeyDown && event.Modifiers&^int64(chromedp.ModifierShift) == 0 {
				event.Text = kb.Keys[key].Text
			}
			call(b, input.DispatchKeyEvent, *event)
		}
	}
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

// account opens the menu of the account, and clicks on an element of it.
func (b *tab) account(role, name string) {
	b.t.Helper()
	b.await("the menu of the account has "+name, func() (bool, error) { // a page that appears closes the menu
		b.is("document.getElementById('account-menu') !== null")
		b.run("document.querySelector('#account:not(:has(:popover-open)) > button')?.click()")
		ids, err := b.matches(role, name, nil)
		return len(ids) == 1, err
	})
	b.click(role, name)
}

// setFragment goes to a fragment of the page.
func (b *tab) setFragment(fragment string) {
	b.t.Helper()
	b.run(fmt.Sprintf("location.hash = %q", fragment))
}

// asks checks that the sheet of a change is open, with texts and a field for the reason, and that the tab has not changed
// anything yet. It closes the sheet.
func (b *tab) asks(texts ...string) {
	b.t.Helper()
	b.find("field", "Reason")
	for _, text := range texts {
		b.is(fmt.Sprintf("document.querySelector('dialog.sheet').innerText.includes(%q)", text))
	}
	b.press(kb.Escape)
	b.is("document.querySelector('dialog.sheet') === null")
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Equal(b.t, []string(nil), b.writes)
}

// hasRequested checks how many requests of the tab have a URL that contains a text.
func (b *tab) hasRequested(want, part string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := 0
	for _, url := range b.requests {
		got += min(1, strings.Count(url, part))
	}
	if fmt.Sprint(got) != want {
		b.t.Errorf("%d requests of %s, want %s", got, part, want)
	}
}

// offline cuts the tab off from the URLs that match a pattern, or from all.
func (b *tab) offline(pattern ...string) {
	b.t.Helper()
	b.network(network.Conditions{URLPattern: strings.Join(pattern, ""), Offline: true})
}

// slow delays each response.
func (b *tab) slow(duration string) {
	b.t.Helper()
	delay, err := time.ParseDuration(duration)
	assert.OK(b.t, err)
	b.network(network.Conditions{Latency: float64(delay.Milliseconds())})
}

// online ends offline and slow.
func (b *tab) online() { b.t.Helper(); b.network(network.Conditions{}) }

func (b *tab) network(conditions network.Conditions) {
	b.t.Helper()
	conditions.DownloadThroughput, conditions.UploadThroughput = -1, -1
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{&conditions},
	})
}

func (b *tab) setTimeZone(name string) {
	b.t.Helper()
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
}

func (b *tab) clearCookies() { b.t.Helper(); call(b, network.ClearBrowserCookies, cdp.Empty{}) }

// copied sets a variable of the script to what is in the clipboard.
func (b *tab) copied(variable string) {
	b.t.Helper()
	b.script.Setenv(variable, evaluate[string](b, "navigator.clipboard.readText()"))
}
