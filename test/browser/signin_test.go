package browser_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/local"
	"toggleadmin/test/process"
)

// signIn signs a seeded person in and waits for the page with the fragment.
func (b *tab) signIn(name, fragment string) {
	b.t.Helper()
	b.enter(b.service.pat(name), fragment)
	b.sees("Sign out", name)
}

// enter opens a page with a token.
func (b *tab) enter(token, fragment string) {
	b.t.Helper()
	b.visit("/console/")
	run[chromedp.Void](b, fmt.Sprintf("sessionStorage.setItem('toggleadmin.token', %q)", token))
	b.reload()
	if fragment != "" {
		run[string](b, fmt.Sprintf("location.hash = %q", fragment))
	}
}

func TestSignInWithAToken(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.visit("/console/")
	b.replace(field("Personal access token"), "Bearer "+b.service.pat("viewer"))
	b.click(button("Sign in"))
	b.sees("viewer", "Viewer", "Release")
	b.click(link("Tokens"))
	b.find(heading("Tokens"))

	b.click(button("Sign out"))
	b.sees("You are signed out.")
	b.seesNo("Create token")
	b.is("sessionStorage.length === 0 && localStorage.length === 0 && document.cookie === ''")
	b.goBack()
	b.find(field("Personal access token"))
	b.seesNo("Release")
}

func TestWrongToken(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 401")
	b.visit("/console/")
	b.click(button("Sign in"))
	b.seesError(field("Personal access token"), "Enter a token.")
	b.replace(field("Personal access token"), b.service.pat("admin")+"x")
	b.click(button("Sign in"))
	b.seesError(field("Personal access token"), "does not accept this token")
	b.is("sessionStorage.length === 0")
}

// The URL that the service prints signs in once. The token is in no URL and in no request except as a credential.
func TestSignInWithThePrintedURL(t *testing.T) {
	t.Parallel()
	printed := &process.Output{}
	s := start(t, local.Config{Stdout: printed, DataDir: t.TempDir()})
	path := regexp.MustCompile(`/console/#code=\S+`).FindString(printed.String())
	b := openTab(t, s)
	b.visit(path)
	b.sees("admin", "Release")
	b.click(link("Context fields"))
	b.sees("currentTime")

	b.is("location.hash === '#/context'")
	entries, err := chromedp.Run(b.ctx, chromedp.NavigationEntries())
	must(t, err)
	token := s.pat("admin")
	for _, entry := range entries.Entries {
		if strings.Contains(entry.URL, token) || strings.Contains(entry.URL, "code=") {
			t.Errorf("the history contains the secret: %s", entry.URL)
		}
	}
	for _, request := range b.sent() {
		authorization := request.Headers["Authorization"]
		delete(request.Headers, "Authorization")
		if strings.Contains(fmt.Sprint(request.URL, request.Headers), token) {
			t.Errorf("a request contains the token: %s %v", request.URL, request.Headers)
		}
		if api := strings.Contains(request.URL, "/api/"); api != (authorization == token) {
			t.Errorf("%s has the credential %v", request.URL, authorization)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "/api/admin/context") || strings.Contains(log, token) {
		t.Errorf("the service's log has no request, or the token:\n%s", log)
	}

	b.visit(path) // only the fragment changes
	b.sees("admin", "Release")
	b.click(button("Sign out"))
	b.sees("You are signed out.")
	b.mayLog("status of 401")
	b.visit(path)
	b.sees("is not valid, was already used or has expired")
	b.is("sessionStorage.length === 0 && location.hash === ''")
}

func TestIDTokenWithoutAnIssuer(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 401")
	b.enter("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "")
	b.sees("The API does not accept this token.")
}

// clock is a clock that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

func TestUnreachableAPI(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("ERR_INTERNET_DISCONNECTED")
	b.offline(true, b.service.BaseURL+"/console/:files/main.js")
	b.visit("/console/")
	b.sees("Loading…", "API reference")
	b.offline(false, "")
	b.signIn("admin", "#/context")
	b.sees("currentTime")
	b.click(link("Toggle types"))
	b.click(button("Edit lifetime of Release"))
	b.replace(field("Days"), "41")
	b.offline(true, "")
	b.click(button("Save"))
	b.sees("The API cannot be reached.")
	b.open("Context fields")
	b.sees("The API cannot be reached.")
	b.offline(false, "")
	b.click(button("Try again"))
	b.sees("currentTime", "admin")
}

func TestBackForwardAndReload(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.signIn("admin", "#/types")
	b.find(heading("Toggle types"))
	b.click(link("Context fields"))
	b.find(heading("Context fields"))
	b.click(link("Tokens"))
	b.find(heading("Tokens"))
	b.goBack()
	b.find(heading("Context fields"))
	b.is(`document.activeElement === document.querySelector('h1')`)
	b.reload()
	b.find(heading("Context fields"))
	b.sees("currentTime")
	b.is(`document.activeElement === document.body`) // so that Tab begins with the navigation
	b.goBack()
	b.find(heading("Toggle types"))
	b.goForward()
	b.find(heading("Context fields"))
	b.is(`document.querySelector('nav [aria-current=page]').innerText === 'Context fields' && ` +
		`document.title.startsWith('Context fields')`)
}

func TestTwoTabsHaveTwoUsers(t *testing.T) {
	t.Parallel()
	first := openTab(t, start(t, local.Config{}))
	first.signIn("admin", "#/types")
	second := first.openAnother()
	second.visit("/console/")
	second.find(field("Personal access token"))
	second.signIn("viewer", "#/types")
	first.reload()
	first.sees("admin")
	first.find(button("Edit lifetime of Release"))
	second.reload()
	second.sees("viewer")
	second.click(button("Sign out"))
	first.click(link("Context fields"))
	first.sees("currentTime", "admin")
}

// sent returns the requests of the tab so far.
func (b *tab) sent() []*network.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests
}

// requested returns how many requests of the tab have a URL that contains a text.
func (b *tab) requested(part string) (n int) {
	for _, request := range b.sent() {
		if strings.Contains(request.URL, part) {
			n++
		}
	}
	return n
}

// offline cuts the tab off from the URLs that match a pattern; empty: from all.
func (b *tab) offline(on bool, pattern string) {
	b.t.Helper()
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{URLPattern: pattern, Offline: on, DownloadThroughput: -1,
			UploadThroughput: -1}},
	})
}

// seesError waits until a field has an error that contains a text, and says so to assistive technology.
func (b *tab) seesError(e element, text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("%s has the error %q", e, text), func() (bool, error) {
		return on[bool](b, e, fmt.Sprintf(`e => e.getAttribute('aria-invalid') === 'true' && e === document.activeElement &&
			(e.getAttribute('aria-describedby') ?? '').split(' ').some(id => document.getElementById(id)?.innerText.includes(%q))`, text)), nil
	})
}
