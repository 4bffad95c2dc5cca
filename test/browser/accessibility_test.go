package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"toggleadmin/test/helper/assert"
)

// views are the windows and schemes of isAccessible. 720 is also 1440 with a zoom of 200 %.
var views = []struct {
	width          int64
	feature, value string // of the medium
	axe            bool   // checks the rules of axe too
}{
	{320, "prefers-color-scheme", "light", false},
	{360, "prefers-color-scheme", "light", true},
	{390, "prefers-color-scheme", "light", false},
	{720, "prefers-color-scheme", "light", false},
	{768, "forced-colors", "active", false},
	{1024, "prefers-color-scheme", "dark", false},
	{1440, "forced-colors", "active", false},
	{1440, "prefers-color-scheme", "dark", true},
}

// isAccessible checks that the page violates no rule of axe, is not wider than the window, breaks no word in a table, and
// keeps what colors mean in forced colors.
func (b *tab) isAccessible() {
	b.t.Helper()
	for _, view := range views {
		b.resize(view.width, 740)
		b.media(view.feature, view.value)
		b.fitsTheWindow()
		b.breaksNoWord()
		if view.axe {
			b.hasNoViolations()
		}
		if view.feature == "forced-colors" {
			b.keepsMeaning()
		}
	}
	b.resize(1200, 900)
	b.media("", "")
}

// walk checks all pages that the user may see, and those with the fragments: no page is wider than the window, no word is
// broken, no row is higher than a few lines, and no rule of axe is violated.
func (b *tab) walk(fragments ...string) {
	b.t.Helper()
	pages := evaluate[[]string](b, `import(document.querySelector('script[src$="/start.js"]').src.replace('start.js', 'pages.js'))
		.then(({ pages }) => Object.keys(pages).map((name) => '#/' + name))`)
	for _, fragment := range append(pages, fragments...) {
		b.setFragment(fragment)
		b.isLoaded()
		for _, width := range []int64{320, 390, 768, 1024, 1280, 1440} {
			b.resize(width, 740)
			b.t.Logf("%s, %d px wide", fragment, width)
			b.fitsTheWindow()
			b.breaksNoWord()
			b.hasLowRows()
			if width == 390 || width == 1440 { // cards, and tables
				b.hasNoViolations()
			}
		}
	}
	b.resize(1200, 900)
}

// isLoaded waits until the page shows what it has loaded.
func (b *tab) isLoaded() {
	b.t.Helper()
	b.is(`document.querySelector('.page:empty, .page > .loading, .page > div > .loading, .page > [aria-busy=true]') === null`)
	b.seesNo("Loading your account")
}

// hasLowRows checks that the rows of tables have few lines. On phones, they are cards.
func (b *tab) hasLowRows() {
	b.t.Helper()
	for _, row := range evaluate[[]string](b, `[...document.querySelectorAll('main tbody tr')].filter((row) => {
		const line = parseFloat(getComputedStyle(row).fontSize) * 1.5;
		return row.getBoundingClientRect().height > (getComputedStyle(row).display === 'table-row' ? 5 : 14) * line;
	}).map((row) => row.getBoundingClientRect().height + ' px: ' + row.innerText.replace(/\s+/g, ' ').slice(0, 120)).slice(0, 3)`) {
		b.t.Errorf("a row is too high: %s", row)
	}
}

// photo takes pictures of the whole page, in light and in dark, if PHOTOS is a folder.
func (b *tab) photo(name string) {
	b.t.Helper()
	folder := os.Getenv("PHOTOS")
	if folder == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		b.media("prefers-color-scheme", scheme)
		b.resize(1000, evaluate[int64](b, "document.documentElement.scrollHeight"))
		image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		assert.OK(b.t, err)
		assert.OK(b.t, os.WriteFile(filepath.Join(folder, name+"-"+scheme+".png"), image, 0o644))
	}
	b.media("", "")
	b.resize(1200, 900)
}

// media sets a feature of the medium, such as dark mode.
func (b *tab) media(name, value string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: name, Value: value}},
	})
}

// showPrinted shows pages as they are printed.
func (b *tab) showPrinted() {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}

// keepsMeaning checks, in forced colors, that current links look different from others, and that the squares of the
// chart's legend keep their patterns, in the color of text like the chart.
func (b *tab) keepsMeaning() {
	b.t.Helper()
	for _, links := range []string{"#pages a", ".tabs a"} {
		b.is(fmt.Sprintf(`(all => all.filter(e => e.ariaCurrent).every(current => all.every(e => e === current ||
			getComputedStyle(e).borderBottom !== getComputedStyle(current).borderBottom)))([...document.querySelectorAll(%q)])`,
			links))
	}
	b.is(`[...document.querySelectorAll('.swatch')].every(e => getComputedStyle(e).forcedColorAdjust === 'none' &&
		getComputedStyle(e).borderColor === getComputedStyle(document.body).color)`)
}

// isIntact checks that the page has no element that it did not create, and is not wider than a narrow window.
func (b *tab) isIntact() {
	b.t.Helper()
	b.is("document.querySelector('body :is(img, script, b, [onfocus], [onerror])') === null")
	b.resize(360, 740)
	b.fitsTheWindow()
	b.resize(1200, 900)
}

// fitsTheWindow checks that the page does not scroll horizontally.
func (b *tab) fitsTheWindow() {
	b.t.Helper()
	if wide := evaluate[[]string](b, `(root => root.scrollWidth <= root.clientWidth ? [] :
		[...root.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > root.clientWidth).map(e => e.outerHTML.slice(0, 200)).slice(0, 5))(document.documentElement)`); len(wide) > 0 {
		b.t.Errorf("the page is wider than the window:\n%s", strings.Join(wide, "\n"))
	}
}

// breaksNoWord checks that each word in a table is in one line, except in names and descriptions.
func (b *tab) breaksNoWord() {
	b.t.Helper()
	for _, word := range evaluate[[]string](b, `(() => {
		const broken = [];
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT,
			(node) => node.parentElement.closest('td, th') && !node.parentElement.closest('bdi, code, .visually-hidden')
				? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
		while (texts.nextNode()) {
			for (const word of texts.currentNode.data.matchAll(/\S+/g)) {
				const range = document.createRange();
				range.setStart(texts.currentNode, word.index);
				range.setEnd(texts.currentNode, word.index + word[0].length);
				const lines = new Set([...range.getClientRects()].map(({top}) => Math.round(top)));
				if (lines.size > 1) broken.push(word[0]);
			}
		}
		return broken;
	})()`) {
		b.t.Errorf("the word %q is in several lines", word)
	}
}

// hasNoViolations runs all rules of axe on the page, and that of targets of at least 24 pixels, which axe leaves out
// otherwise.
func (b *tab) hasNoViolations() {
	b.t.Helper()
	// Colors change while something appears, and results are pale while they are loaded again.
	b.is(`document.querySelector('.results[aria-busy=true]') === null`)
	b.is(`document.getAnimations().every((a) => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)`)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	assert.OK(b.t, err)
	b.run(string(axe))
	for _, violation := range evaluate[[]string](b,
		`axe.run({rules: {'target-size': {enabled: true}}}).then(({violations, passes}) => passes.length === 0 ? ['axe has checked nothing'] :
		violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + '\n' + n.failureSummary)))`) {
		b.t.Error(violation)
	}
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
	return evaluate[focused](b, `(e => {
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

// tabTo presses the tab key until an element with the name has the focus. The element may not be there yet.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
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

// enterAt presses the tab key until an element with the name has the focus, and then the enter key.
func (b *tab) enterAt(name string) {
	b.t.Helper()
	b.tabTo(name)
	b.press(kb.Enter)
}
