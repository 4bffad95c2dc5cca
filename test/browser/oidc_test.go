package browser_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/local"
)

// startWithIssuer starts a service and its issuer. defaultRole is the role of unknown people; empty: they cannot sign
// in.
func startWithIssuer(t *testing.T, algorithm, defaultRole string, c *clock) *service {
	t.Helper()
	chromium.context(t)
	issuer := newIssuer(t, algorithm, map[string]claims{
		// the seeded admin, in other letter case
		"grace": {"email": "Admin@Example.com", "email_verified": true, "name": "Grace"},
		"alan":  {"email": "admin@example.com", "email_verified": false, "name": "Alan"},
		"ada":   {"name": "Ada <b>L.</b>"},
	})
	s := start(t, local.Config{Now: c.now, OIDCIssuer: issuer, OIDCClientID: "console", OIDCDefaultRole: defaultRole})
	s.issuer = issuer
	return s
}

// signInThroughIssuer signs in, beginning on the sign-in page.
func (b *tab) signInThroughIssuer(login string) {
	b.t.Helper()
	b.click(b.issuerButton())
	b.replace(field("Login"), login)
	b.click(button("Continue"))
}

func (b *tab) issuerButton() element {
	b.t.Helper()
	issuer, err := url.Parse(b.service.issuer)
	must(b.t, err)
	return button("Sign in with " + issuer.Host)
}

func TestSignInThroughTheIssuer(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"RS256", "ES256", "PS256", "EdDSA"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, startWithIssuer(t, algorithm, "", &clock{}))
			b.visit("/console/#/context")
			b.signInThroughIssuer("grace") // has the verified e-mail address of the admin
			b.find(heading("Context fields"))
			b.sees("admin", "Admin", "currentTime")
			b.is("location.search === '' && location.hash === '#/context'")
			b.reload()
			b.sees("admin", "currentTime")
			for _, request := range b.sent() {
				if u, err := url.Parse(request.URL); err != nil || u.Query().Has("id_token") ||
					strings.Contains(request.URL, "eyJ") {
					t.Errorf("a URL contains a token: %s", request.URL)
				}
			}
		})
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	b := openTab(t, startWithIssuer(t, "ES256", "", &clock{}))
	b.visit("/console/")
	b.signInThroughIssuer("grace")
	b.sees("Release")
	b.click(button("Sign out"))
	b.sees("You are signed out.")
	b.is("sessionStorage.length === 0")
	b.click(link("Sign out of " + strings.TrimPrefix(b.service.issuer, "http://")))
	b.click(button("Sign out of the issuer"))
	b.sees("Signed out of the issuer")
	b.visit("/console/")
	b.click(b.issuerButton())
	b.find(field("Login")) // the session at the issuer has ended
}

func TestUnknownPersonGetsTheDefaultRole(t *testing.T) {
	t.Parallel()
	b := openTab(t, startWithIssuer(t, "ES256", "Viewer", &clock{}))
	b.visit("/console/")
	b.signInThroughIssuer("ada") // has no e-mail address
	b.sees("Ada <b>L.</b>", "Viewer", "Release")
	b.isIntact()
	b.click(link("Tokens")) // of a person who is new
	b.find(button("Create token"))
}

func TestUnknownPersonWithoutDefaultRoleIsRefused(t *testing.T) {
	t.Parallel()
	b := openTab(t, startWithIssuer(t, "ES256", "", &clock{}))
	b.mayLog("status of 401")
	b.visit("/console/")
	b.signInThroughIssuer("alan") // has the e-mail address of the admin, but not verified
	b.sees("this service has no active user for you", "E-mail address", "admin@example.com", "Subject (sub)", "alan",
		b.service.issuer)
	b.find(field("Personal access token"))
	b.is("sessionStorage.length === 0")
}

// When the API no longer accepts the ID token, the page asks the issuer for another one, without a question to the
// user.
func TestRenewASession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		session bool // at the issuer
		sees    string
		page    string // JavaScript
	}{
		{"with a session", true, "currentTime", "sessionStorage.length === 1"},
		{"without a session", false, "Your session has ended. Sign in again.", "sessionStorage.length === 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, startWithIssuer(t, "ES256", "", &clock{}))
			b.mayLog("status of 401")
			b.visit("/console/")
			b.signInThroughIssuer("grace")
			b.sees("1–7 of 7 toggles")
			if !tt.session {
				call(b, network.ClearBrowserCookies, cdp.Empty{})
			}
			run[chromedp.Void](b, "for (const name of Object.keys(sessionStorage)) sessionStorage[name] += 'x'")
			b.click(link("Context fields"))
			b.sees(tt.sees)
			b.is("location.search === '' && location.hash === '#/context' && " + tt.page)
			if b.requested("prompt=none") != 1 {
				t.Error("the page has not asked the issuer")
			}
		})
	}
}

func TestIssuerRotatesItsKey(t *testing.T) {
	t.Parallel()
	c := &clock{}
	b := openTab(t, startWithIssuer(t, "RS256", "", c))
	b.visit("/console/")
	b.signInThroughIssuer("grace")
	b.sees("Release")
	b.click(button("Sign out"))
	rotateKey(t, b.service.issuer)
	c.advance(31 * time.Second) // keys are fetched at most every 30 s
	b.signInThroughIssuer("grace")
	b.sees("Release", "admin")
}

// Whoever sends a link to the page can neither sign somebody in nor show a text.
func TestForgedResponseOfTheIssuer(t *testing.T) {
	t.Parallel()
	b := openTab(t, startWithIssuer(t, "ES256", "", &clock{}))
	for _, query := range []string{"?code=abc&state=xyz", "?error=access_denied&error_description=Call+me&state=xyz"} {
		b.visit("/console/" + query)
		b.sees("This sign-in was not started in this tab")
		b.seesNo("Call me")
		b.is("location.search === '' && sessionStorage.length === 0")
	}
}
