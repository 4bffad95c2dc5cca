// Package browser_test tests the pages of the console in Chromium by the scripts in testdata. script_test.go lists their
// commands. Each script has a service, and a tab without cookies or storage of other scripts. Elements are found
// as assistive technology finds them, by role and name. Signing in uses a certified OpenID Connect issuer.
//
// Every script fails on an error or a warning in the browser's console, an uncaught exception, a violation of the
// Content-Security-Policy, a request to another host, a credential that is sent or logged where it does not belong, and
// a text such as "false" or "undefined" on a page.
package browser_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"toggleadmin/test/helper/assert"
)

// chromium is the browser that all tests share. It starts with the first test that needs it.
var chromium = &chromiumProcess{path: os.Getenv("CHROMIUM")}

// chromiumProcess is a process.
type chromiumProcess struct {
	path string
	once sync.Once
	ctx  context.Context //nolint:containedctx // chromedp's handle of the first tab, which no test uses
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
}

// context returns the context in which tabs open. Without CHROMIUM it skips the test.
func (b *chromiumProcess) context(tb testing.TB) context.Context {
	tb.Helper()
	if b.path == "" {
		tb.Skip("make test-browser runs this test: it needs Chromium")
	}
	b.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(b.path))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		b.ctx, b.stop = ctx, func() { cancel(); stop() }
		b.err = chromedp.Do(ctx)
	})
	assert.OK(tb, b.err)
	return b.ctx
}
