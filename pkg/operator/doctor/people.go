package doctor

import (
	"context"
	"fmt"
	"log/slog"

	"toggleadmin/pkg/platform/oidc"
)

// issuer checks that the issuer can be reached and has the configured name. The functions read the same document.
func (d *doctor) issuer(ctx context.Context) (string, error) {
	i := d.Installation
	if i.Issuer == "" {
		return "the installation has no OpenID Connect issuer", errSkip
	}
	issuer, err := oidc.New(oidc.Config{
		Issuer: i.Issuer, ClientID: i.ClientID, Loopback: i.IsLocal(), Now: d.Now, Logger: slog.New(slog.DiscardHandler),
		Transport: d.HTTP.Transport,
	})
	if err != nil {
		return "", err
	}
	if _, err := issuer.Metadata(ctx); err != nil {
		return "", problem(fmt.Sprintf("the discovery document of %s cannot be used: %v", i.Issuer, err),
			"compare the issuer with the one in its document (docs/access.md); people with known keys can still sign in")
	}
	return i.Issuer + " publishes its discovery document", nil
}
