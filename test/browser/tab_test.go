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

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a tab waits for a condition.
const patience = 20 * time.Second

// tab is a tab of the browser.
type tab struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // chromedp's handle of the tab
	service *service

	mu       sync.Mutex
	problems []string
	requests []*network.Request
	allowed  []string // parts of messages in the console
}

// openTab opens an empty tab without cookies and storage of other tabs.
func openTab(t *testing.T, s *service) *tab {
	t.Helper()
	return newTab(chromium.context(t), t, s, chromedp.WithNewBrowserContext())
}

// openAnother opens an empty tab in the same window, with storage of its own.
func (b *tab) openAnother() *tab {
	b.t.Helper()
	return newTab(b.ctx, b.t, b.service)
}

func newTab(parent context.Context, t *testing.T, s *service, options ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, service: s}
	limited, stop := context.WithTimeout(parent, 6*patience)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(limited, append(options, chromedp.WithListener(b.record))...)
	t.Cleanup(cancel)
	b.ctx = ctx
	// All tabs of a process behave as if they had the focus.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.resize(1200, 900)
	t.Cleanup(b.check)
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

// goBack and goForward move in the history, also between fragments, which load no page.
func (b *tab) goBack()    { b.t.Helper(); run[chromedp.Void](b, "history.back()") }
func (b *tab) goForward() { b.t.Helper(); run[chromedp.Void](b, "history.forward()") }

// resize sets the size of the window's content in CSS pixels.
func (b *tab) resize(width, height int64, options ...chromedp.EmulateViewportOption) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height, options...)))
}

// sees waits until all texts are visible.
func (b *tab) sees(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.await(fmt.Sprintf("the page shows %q", text), func() (bool, error) {
			return chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("document.body.innerText.includes(%q)", text)))
		})
	}
}

// seesNo waits until the text is not visible.
func (b *tab) seesNo(text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("the page does not show %q", text), func() (bool, error) {
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("!document.body.innerText.includes(%q)", text)))
	})
}

// is waits until a JavaScript expression is true.
func (b *tab) is(expression string) {
	b.t.Helper()
	b.await(expression, func() (bool, error) {
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
	})
}

// press presses keys, such as kb.Tab.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// replace replaces the value of a field.
func (b *tab) replace(field element, value string) {
	b.t.Helper()
	b.click(field)
	b.press("a", chromedp.ModifierCtrl)
	b.press(kb.Delete)
	call(b, input.InsertText, input.InsertTextParams{Text: value})
}

// run evaluates a JavaScript expression. It waits for promises.
func run[T any](b *tab, expression string) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return result
}
