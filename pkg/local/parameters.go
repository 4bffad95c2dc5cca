package local

import (
	"errors"
	"fmt"
	"strconv"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/oidc"
)

// parameters returns the parameters of the template. functionEnv replaces the URLs and the client id, of which AWS
// accepts less.
func parameters(c *Config) map[string]string {
	p := map[string]string{"MaxTokenDays": strconv.Itoa(c.MaxTokenDays)}
	if c.OIDCIssuer != "" {
		p["OidcIssuer"], p["OidcClientId"], p["OidcDefaultRole"] = "https://issuer.invalid", "local", c.OIDCDefaultRole
	}
	if !c.RequestsOnly {
		p["SendEventsToBus"] = "true"
	}
	if !c.RequestsOnly && c.WebhookURL != "" {
		p["WebhookSecretName"] = "/local/webhook"
		if c.WebhookEvents != "" {
			p["WebhookEvents"] = c.WebhookEvents
		}
	}
	return p
}

// checkIssuer returns an error if the settings of the OpenID Connect issuer cannot be used.
func checkIssuer(c *Config) error {
	if _, err := oidc.New(oidc.Config{Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, Loopback: true,
		Now: c.Now}); err != nil {
		return err
	}
	switch {
	case c.OIDCDefaultRole == "":
		return nil
	case access.Role(c.OIDCDefaultRole).ID() == 0:
		return fmt.Errorf("OIDC_DEFAULT_ROLE %q is not a role: use Viewer, Editor or Admin, or unset it", c.OIDCDefaultRole)
	case c.OIDCIssuer == "":
		return errors.New("OIDC_DEFAULT_ROLE is set without OIDC_ISSUER, the issuer at which people sign in: set both, or " +
			"unset it")
	}
	return nil
}
