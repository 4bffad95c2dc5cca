package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

// installedChromium is the variable with the path of Chromium.
const installedChromium = "CHROMIUM"

// chromium is the browser that all tests share. It starts with the first test that needs it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(os.Getenv(installedChromium)))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stopChromium = func() { cancel(); stop() }
	return ctx, chromedp.Do(ctx)
})

var stopChromium = func() {} // replaced when it has started

func TestMain(m *testing.M) {
	m.Run()
	stopChromium()
}

// page is a page of another origin than the service.
type page struct {
	*testing.T
	ctx context.Context //nolint:containedctx // chromedp's handle of the tab

	mu     sync.Mutex
	lines  []string // what the page has printed
	errors []string // what it has printed as an error or a warning
}

// printStatuses prints, in a page, the statuses of the responses that it can read.
const printStatuses = `const send = fetch;
fetch = async (...request) => {
	const response = await send(...request);
	console.info('status ' + response.status);
	return response;
};`

// openProgram opens a page with a program for a page, which command bundles.
func openProgram(t *testing.T, command *exec.Cmd) *page {
	t.Helper()
	script, err := command.Output()
	assert.OK(t, err)
	return openPage(t, "/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><body>`+
				`<script>`+printStatuses+`</script><script src="script.js"></script>`)
		case "/script.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write(script)
		}
	}))
}

// openPage opens a page of a server of its own.
func openPage(t *testing.T, path string, h http.Handler) *page {
	t.Helper()
	origin := httptest.NewServer(h)
	t.Cleanup(origin.Close)
	browser, err := chromium()
	assert.OK(t, err)
	p := &page{T: t}
	limited, stop := context.WithTimeout(browser, 5*timeout)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(limited, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.record))
	t.Cleanup(cancel)
	p.ctx = ctx
	assert.OK(t, chromedp.Do(ctx, chromedp.Navigate(origin.URL+path)))
	t.Cleanup(func() {
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			t.Logf("the page has printed %q and the errors %q", p.lines, p.errors)
		}
	})
	return p
}

// record is called for every event of the page.
func (p *page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		var text string
		for _, argument := range e.Args {
			var value string
			if json.Unmarshal([]byte(argument.Value), &value) != nil {
				value = argument.Description
			}
			text += value
		}
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning:
			p.errors = append(p.errors, text)
		default:
			p.lines = append(p.lines, text)
		}
	}
}

// awaitLine waits until the page has printed a line.
func (p *page) awaitLine(want string) {
	p.Helper()
	process.Await(p, "the line "+want, 20*time.Millisecond, timeout, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.lines, want)
	})
}

// ask returns the results of the program in the page.
func (p *page) ask(q question) ([]string, error) {
	arguments, err := json.Marshal([]any{q.Context, q.Toggles})
	if err != nil {
		return nil, err
	}
	return chromedp.Run(p.ctx, chromedp.Evaluate[[]string]("evaluate(..."+string(arguments)+")", chromedp.EvalAwaitPromise))
}

// testFaults checks that a page can read the responses of a service without the toggles of the environment, follows
// toggles when the service has them again, and learns that its token was deleted.
func (p *page) testFaults(s *service, app *application) {
	p.Helper()
	s.forgetSnapshot()
	s.stop()
	s.startWith(local.Config{RequestsOnly: true}) // which compiles no snapshot
	p.awaitLine("status 503")
	s.stop()
	s.start()
	s.turn(switched, "on")
	process.Await(p, "the toggle that was turned on after the fault", 50*time.Millisecond, timeout, func() bool {
		return app.evaluate(inNorway())[switched] == "on"
	})
	s.deleteTokens()
	p.awaitLine("status 401")
}

// forgetSnapshot deletes the pointer to the snapshot of the environment, as a restore does.
func (s *service) forgetSnapshot() {
	s.Helper()
	i, err := installation.OpenLocal(s.Context(), s.data)
	assert.OK(s.T, err)
	_, err = i.Client.DeleteItem(s.Context(), &dynamodb.DeleteItemInput{
		TableName: new(i.Tables[snapshottable.Table]), Key: snapshottable.PointerKey(environment),
	})
	assert.OK(s.T, err)
}

// deleteTokens deletes the client tokens of the environment.
func (s *service) deleteTokens() {
	s.Helper()
	for _, token := range s.ClientTokens {
		if token.Environment == environment {
			s.request(http.MethodDelete, "api-tokens/"+token.Secret, "")
		}
	}
}
