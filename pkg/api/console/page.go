package console

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"toggleadmin/pkg/platform/oidc"
)

// pageConfig is what the page passes to its modules.
type pageConfig struct {
	client
	Local     bool   `json:"local,omitempty"`     // make run: the console has the page #/design
	ClientURL string `json:"clientUrl,omitempty"` // for applications, without a slash at its end; empty: none
}

// client is the configuration of OpenID Connect. It is empty if no issuer is configured.
type client struct {
	Issuer                string `json:"issuer,omitempty"`
	ClientID              string `json:"clientId,omitempty"`
	AuthorizationEndpoint string `json:"authorizationEndpoint,omitempty"`
	TokenEndpoint         string `json:"tokenEndpoint,omitempty"`
	EndSessionEndpoint    string `json:"endSessionEndpoint,omitempty"`
	IssuerError           bool   `json:"issuerError,omitempty"` // the endpoints are not known
}

// newClient returns the configuration with the issuer's endpoints. If the issuer does not return them, IssuerError is
// true, and people can still sign in with a token.
func newClient(ctx context.Context, issuer *oidc.Issuer, config *oidc.Config) client {
	m, err := issuer.Metadata(ctx) // logs its error
	if err == nil && (m.AuthorizationEndpoint == "" || m.TokenEndpoint == "") {
		config.Logger.WarnContext(ctx, "the issuer has no authorization endpoint or no token endpoint",
			slog.String("issuer", config.Issuer))
		m = oidc.Metadata{}
	}
	return client{
		Issuer: config.Issuer, ClientID: config.ClientID,
		AuthorizationEndpoint: m.AuthorizationEndpoint, TokenEndpoint: m.TokenEndpoint,
		EndSessionEndpoint: m.EndSessionEndpoint,
		IssuerError:        m.TokenEndpoint == "",
	}
}

// servePage serves a page with the name of the folder of its files and with the client.
func (s *site) servePage(w http.ResponseWriter, r *http.Request, page file) error {
	c := s.client(r.Context())
	// escapes <, > and &, so that no text ends the element that contains it
	config, err := json.Marshal(pageConfig{client: c, Local: s.local, ClientURL: s.clientURL})
	if err != nil {
		return fmt.Errorf("encode the configuration: %w", err)
	}
	template, err := page.content()
	if err != nil {
		return err
	}
	content := strings.NewReplacer(
		"{{files}}", s.folder, "{{config}}", string(config), "{{version}}",
		html.EscapeString(s.version)).Replace(string(template))
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", policy(c.TokenEndpoint, page.inlineStyles))
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	return write(w, page.contentType, []byte(content))
}

// policy returns the Content-Security-Policy of a page: only files of the console are loaded, only this API and the
// token endpoint, which may be empty, are called, and no string becomes markup or code, except in templates of lit-html,
// which the API reference has too.
func policy(tokenEndpoint string, inlineStyles bool) string {
	connect, style := "'self'", "'self'"
	if inlineStyles {
		style += " 'unsafe-inline'"
	}
	if u, err := url.Parse(tokenEndpoint); err == nil && u.Host != "" { // of characters that pkg/platform/oidc permits
		connect += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; script-src 'self'; style-src " + style +
		"; img-src 'self' data:; font-src 'self'; connect-src " + connect +
		"; form-action 'none'; base-uri 'none'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types lit-html"
}
