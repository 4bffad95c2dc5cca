package browser_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

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
	b.run(fmt.Sprintf("sessionStorage.setItem('toggleadmin.token', %q)", token))
	b.reload()
	b.setFragment(fragment)
}

// issuerSignIn signs in through the issuer, beginning on the sign-in page.
func (b *tab) issuerSignIn(login string) {
	b.t.Helper()
	issuer, err := url.Parse(b.service.issuer)
	must(b.t, err)
	b.click("button", "Sign in with "+issuer.Host)
	b.fill("Login", login)
	b.click("button", "Continue")
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
	b.click("link", "Context fields")
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
	b.mu.Lock()
	for _, request := range b.requests {
		authorization := request.Headers["Authorization"]
		delete(request.Headers, "Authorization")
		if strings.Contains(fmt.Sprint(request.URL, request.Headers), token) {
			t.Errorf("a request contains the token: %s %v", request.URL, request.Headers)
		}
		if api := strings.Contains(request.URL, "/api/"); api != (authorization == token) {
			t.Errorf("%s has the credential %v", request.URL, authorization)
		}
	}
	b.mu.Unlock()
	if log := s.log.String(); !strings.Contains(log, "/api/admin/context") || strings.Contains(log, token) {
		t.Errorf("the service's log has no request, or the token:\n%s", log)
	}

	b.visit(path) // only the fragment changes
	b.sees("admin", "Release")
	b.click("button", "Sign out")
	b.sees("You are signed out.")
	b.mayLog("status of 401")
	b.visit(path)
	b.sees("is not valid, was already used or has expired")
	b.is("sessionStorage.length === 0 && location.hash === ''")
}

func TestTwoTabsHaveTwoUsers(t *testing.T) {
	t.Parallel()
	first := openTab(t, start(t, local.Config{}))
	first.signIn("admin", "#/types")
	second := newTab(first.ctx, t, first.service) // in the same window, with storage of its own
	second.visit("/console/")
	second.find("field", "Personal access token")
	second.signIn("viewer", "#/types")
	first.reload()
	first.sees("admin")
	first.find("button", "Edit lifetime of Release")
	second.reload()
	second.sees("viewer")
	second.click("button", "Sign out")
	first.click("link", "Context fields")
	first.sees("currentTime", "admin")
}
