// Package browser_test tests the pages of the console in Chromium: each test has a service, and tabs without cookies or
// storage of other tests. Most tests are scripts in testdata; script_test.go lists their commands. Elements are found
// as assistive technology finds them, by role and name. Signing in uses a certified OpenID Connect issuer.
//
// Every test fails on an error or a warning in the browser's console, an uncaught exception, a violation of the
// Content-Security-Policy, and a request to another host.
package browser_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
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
	chromium.close()
	issuers.close()
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
	must(tb, b.err)
	return b.ctx
}

func (b *chromiumProcess) close() {
	if b.stop != nil {
		b.stop()
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
