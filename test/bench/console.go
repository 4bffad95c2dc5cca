package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/platform/dynamo"
)

const (
	consoleRounds = 7
	// pause is how long a page and the service take to finish what an action has caused.
	pause = 2 * time.Second
)

// observer notes when the page shows its first list, in milliseconds since its navigation began.
const observer = `const look = () => {
	if (document.querySelector('.toggles tbody tr')) globalThis.listed = performance.now();
	else requestAnimationFrame(look);
};
look();`

// until is a function of the page: it acts, waits until a condition holds, and returns the milliseconds.
const until = `async (act, holds) => {
	const start = performance.now();
	act();
	while (!holds()) {
		if (performance.now() - start > 30_000) throw new Error('not within 30 s: ' + holds);
		await new Promise(requestAnimationFrame);
	}
	return performance.now() - start;
}`

// visibleRows is the number of rows of the list that the window shows completely.
const visibleRows = `[...document.querySelectorAll('.toggles tbody tr')]
	.filter(row => row.getBoundingClientRect().bottom <= innerHeight).length`

// consoleBench is a tab of Chromium.
type consoleBench struct {
	ctx  context.Context //nolint:containedctx // chromedp's handle of the tab
	url  string
	rows [][]any
}

// measureConsole measures the page Toggles in Chromium, with the service of `make run`.
func measureConsole(ctx context.Context, o options) {
	s := startService(ctx, o, o.memory+"/console")
	defer s.stop()
	now, step := time.Now(), 3*365*24*time.Hour/manyToggles
	putItems(ctx, s.client, s.tables["Features"], manyToggles, func(i int) dynamo.Item {
		// The type has no lifetime: nothing marks toggles as overdue meanwhile.
		return activeItem(i, "permission", now.Add(-time.Duration(i)*step), false)
	})
	b, stop := startConsole(ctx, s)
	defer stop()
	b.open(s.Users[0].PAT)
	b.rows = append(b.rows,
		[]any{"first list, ms", b.measure(b.firstList), 1000},
		[]any{"first list, no file in the cache, ms", b.measure(b.firstListWithoutCache), 1000},
		[]any{"search while typing, ms", b.measure(b.search), 500},
		[]any{"filter by the state Overdue, ms", b.measure(b.filter), 500},
		[]any{"switch, ms", b.measure(b.turn), 300},
		[]any{"rows in a window of 1440 × 900", b.visible(1440, 900), 14},
		[]any{"rows in a window of 390 × 844", b.visible(390, 844), 5})
	printTable("Console", " page Toggles | measured | goal", b.rows,
		"%d toggles with strategies, `make run` on data in memory, and a headless Chromium, which share the machine; "+
			"median of %d rounds, with pauses. The times end with the frame that shows the result. A search begins "+
			"150 ms after the last key.",
		manyToggles, consoleRounds)
}

// startConsole starts a Chromium with a tab for the console of a service. stop ends it.
func startConsole(ctx context.Context, s *service) (b *consoleBench, stop func()) {
	allocator, end := chromedp.NewExecAllocator(ctx,
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()))...)
	tab, cancel := chromedp.NewContext(allocator)
	return &consoleBench{ctx: tab, url: s.BaseURL + "/console/"}, func() {
		cancel()
		end()
	}
}

// chromium is the browser of make test-browser.
func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "chromium"
}

// open signs in.
func (b *consoleBench) open(token string) {
	check(chromedp.Do(b.ctx, chromedp.EmulateViewport(1440, 900)))
	_, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true})
	check(err)
	_, err = chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: observer})
	check(err)
	check(chromedp.Do(b.ctx, chromedp.Navigate(b.url)))
	inPage[chromedp.Void](b, fmt.Sprintf("sessionStorage.setItem('toggleadmin.token', %q)", token))
	b.firstList()
}

// measure returns the median of the milliseconds.
func (b *consoleBench) measure(once func() float64) string {
	var took []float64
	for range consoleRounds {
		b.wait()
		took = append(took, once())
	}
	return fmt.Sprintf("%.0f", median(took))
}

// wait waits until the page and the service have finished what an action has caused.
func (b *consoleBench) wait() {
	select {
	case <-time.After(pause):
	case <-b.ctx.Done():
	}
}

// firstList loads the page, and waits for the list.
func (b *consoleBench) firstList() float64 {
	check(chromedp.Do(b.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(b.url)))
	b.until("() => {}", "globalThis.listed")
	return inPage[float64](b, "listed")
}

func (b *consoleBench) firstListWithoutCache() float64 {
	_, err := chromedp.Call(b.ctx, network.ClearBrowserCache, cdp.Empty{})
	check(err)
	return b.firstList()
}

// search enters a text, and removes it.
func (b *consoleBench) search() float64 {
	enter := func(text, shown string) float64 {
		return b.until(fmt.Sprintf(`() => { const field = document.querySelector('[name=query]'); field.value = %q;
			field.dispatchEvent(new Event('input', {bubbles: true})); }`, text), shown)
	}
	took := enter("toggle-000012", "document.querySelector('.count').textContent.includes('of 10 toggles')")
	enter("", "document.querySelector('.count').textContent.includes('of 10,0')")
	return took
}

// filter selects the state Overdue, and all again.
func (b *consoleBench) filter() float64 {
	press := func(i int) float64 {
		link := fmt.Sprintf("document.querySelectorAll('[aria-label=States] a')[%d]", i)
		return b.until(fmt.Sprintf("() => %s.click()", link),
			link+".ariaCurrent === 'true' && document.querySelector('.results').ariaBusy === null")
	}
	took := press(2)
	press(0)
	return took
}

// turn turns the first toggle on or off in development.
func (b *consoleBench) turn() float64 {
	inPage[chromedp.Void](b, "first = document.querySelector('[role=switch]'), was = first.ariaChecked")
	return b.until("() => first.click()", "first.ariaChecked !== was && first.ariaBusy === null")
}

func (b *consoleBench) until(act, holds string) float64 {
	return inPage[float64](b, fmt.Sprintf("(%s)(%s, () => %s)", until, act, holds))
}

// visible returns the number of rows that are visible in a window of a size.
func (b *consoleBench) visible(width, height int64) int {
	check(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
	b.firstList()
	return inPage[int](b, visibleRows)
}

// inPage evaluates a JavaScript expression in the tab.
func inPage[T any](b *consoleBench, expression string) T {
	return must(chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)))
}
