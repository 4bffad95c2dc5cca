package browser_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/local"
)

func TestCreateCopyUseAndDeleteAToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, create, list string
	}{
		{"one's own", "Create token", "/api/admin/user/tokens"},
		{"a service account's", "Create token for ci", "/api/admin/service-account/4/token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, start(t, local.Config{}))
			b.mayLog("status of 409")
			b.allowClipboard()
			b.signIn("admin", "#/tokens")

			b.click(button(tt.create))
			b.click(button("Create token"))
			b.seesError(field("Description"), "Enter a description.")
			b.replace(field("Description"), "build server")
			b.click(button("Create token"))
			b.sees("This is the only time that the secret is shown.")
			b.click(button("Copy"))
			b.sees("Copied.")
			secret := run[string](b, "navigator.clipboard.readText()")
			b.click(button("Done"))
			b.find(button("Delete token build server"))
			b.is("!document.documentElement.outerHTML.includes('" + secret + "')")
			if status := b.service.status(t, secret); status != http.StatusOK {
				t.Fatalf("the API answers %d to the copied secret", status)
			}

			b.click(button(tt.create))
			b.replace(field("Description"), "build server")
			b.click(button("Create token"))
			b.seesError(field("Description"), "build server") // a token with this description exists
			b.click(button("Cancel"))

			b.click(button("Delete token build server"))
			b.click(button("Cancel"))
			b.click(button("Delete token build server"))
			b.click(button("Delete token"))
			b.is("document.querySelector('dialog') === null && !document.body.innerText.includes('build server')")
			if status := b.service.status(t, secret); status != http.StatusUnauthorized {
				t.Errorf("the API answers %d to a deleted token", status)
			}
		})
	}
}

func TestTokensThatExpireAreHighlighted(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{})
	s.createToken(t, "viewer", "soon", time.Now().Add(13*24*time.Hour))
	s.createToken(t, "viewer", "later", time.Now().Add(15*24*time.Hour))
	b := openTab(t, s)
	b.signIn("viewer", "#/tokens")
	b.sees("soon", "later")
	b.is(rowOf("soon") + ".innerText.includes('Expires soon')")
	b.is("!" + rowOf("later") + ".innerText.includes('Expires soon')")
	b.is(rowOf("seed") + ".innerText.includes('Signed in with this token')")
}

// Deleting the token of the session ends it.
func TestDeleteTheTokenOfTheSession(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.signIn("viewer", "#/tokens")
	b.click(button("Delete token seed"))
	b.sees("Deleting it signs you out.")
	b.click(button("Delete token"))
	b.find(field("Personal access token"))
	b.is("sessionStorage.length === 0")
}

// allowClipboard lets the page write to the clipboard, and the test read it.
func (b *tab) allowClipboard() {
	b.t.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			Origin: b.service.BaseURL, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		must(b.t, err)
	}
}
