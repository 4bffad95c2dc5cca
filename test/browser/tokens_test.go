package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/local"
)

func TestCreateCopyUseAndDeleteAToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, page, create string
	}{
		{"one's own", "tokens", "Create token"},
		{"a service account's", "service-accounts", "Create token for ci"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, start(t, local.Config{}))
			b.mayLog("status of 409")
			b.allowClipboard()
			b.signIn("admin", "#/"+tt.page)

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
			b.seesError(field("Description"), "already has a token")
			b.click(button("Cancel"))
			b.click(button("Discard changes"))

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

// Tokens that expire soon are marked, and so is that of the session. Deleting it ends the session.
func TestMarkedTokens(t *testing.T) {
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

// The tokens of all service accounts can be searched, filtered and sorted, and a token is replaced without an
// interruption.
func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	b := openTab(t, s)
	b.mayLog("status of 409", "status of 400")
	b.allowClipboard()
	b.signIn("admin", "#/service-accounts")
	b.click(button("Create service account"))
	b.replace(field("User name"), "CI")
	b.replace(field("Name"), "Deployment")
	b.click(button("Create service account"))
	b.seesError(field("User name"), "already a service account")
	b.replace(field("User name"), "deploy")
	b.click(button("Create service account"))
	b.find(button("Edit service account Deployment"))
	b.click(button("Edit service account Deployment"))
	b.replace(field("Name"), "Rollout")
	b.click(button("Save"))
	b.find(button("Edit service account Rollout"))

	var account created
	for i := range 51 {
		if i%10 == 0 { // an account has at most ten tokens
			account = s.create(t, "admin", "/api/admin/service-account", map[string]any{"username": fmt.Sprint("a", i),
				"name": fmt.Sprint("a", i), "rootRole": 3})
		}
		expires := time.Now().Add(time.Duration(20+i) * 24 * time.Hour).Format(time.RFC3339)
		s.create(t, "admin", fmt.Sprintf("/api/admin/service-account/%v/token", account.ID),
			map[string]any{"description": fmt.Sprintf("t%02d", i), "expiresAt": expires})
	}
	soon := s.create(t, "admin", "/api/admin/service-account/4/token", map[string]any{
		"description": "pipeline", "expiresAt": time.Now().Add(10 * 24 * time.Hour).Format(time.RFC3339),
	})
	b.reload()
	b.sees("1–50 of 52 tokens", "pipeline")
	b.click(button("Next ›"))
	b.sees("51–52 of 52 tokens", "t50")
	b.choose(field("Show"), "Expires within 14 days")
	b.sees("1 token", "pipeline")
	b.choose(field("Show"), "Never used")
	b.sees("1–50 of 52 tokens")
	b.click(button("Expires"))
	b.is("document.querySelector('.tokens tbody th').innerText === 't50' && " +
		"document.activeElement.innerText.startsWith('Expires')")
	b.replace(field("Search"), "PIPE")
	b.sees("1 token")

	b.click(button("Rotate token pipeline"))
	b.click(button("Create the new token"))
	b.sees("only time that the secret is shown")
	b.click(button("Copy the curl command"))
	b.sees("Copied.")
	if got, want := run[string](b, "navigator.clipboard.readText()"), s.BaseURL+"/api/admin/user"; !strings.HasPrefix(got,
		"curl -H 'Authorization: user:v2_") || !strings.HasSuffix(got, want) {
		t.Errorf("the curl command is %q", got)
	}
	if status := s.status(t, soon.Secret); status != http.StatusOK {
		t.Errorf("before it was deleted, the old token has the status %d", status)
	}
	b.click(button("Delete the old token"))
	b.sees("The old token was deleted.")
	if status := s.status(t, soon.Secret); status != http.StatusUnauthorized {
		t.Errorf("status %d of the old token", status)
	}
	b.click(button("Done"))
	b.sees("pipeline (rotated ")

	b.replace(field("Search"), "ci")
	b.click(button("Delete service account ci"))
	b.sees("its 1 token")
	b.click(button("Cancel"))
	b.replace(field("Search"), "rollout")
	b.click(button("Delete service account Rollout"))
	b.click(button("Delete service account"))
	b.sees("No service account matches")
}
