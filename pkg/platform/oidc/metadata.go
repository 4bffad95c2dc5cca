package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toggleadmin/pkg/platform/issuerurl"
)

// Metadata is the discovery document of an issuer (OpenID Connect Discovery 1.0, section 3), without what is not used
// here. Every URL is an https URL, or "" if the document does not contain it.
type Metadata struct {
	Issuer                string `json:"issuer"`
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	TokenEndpoint         string `json:"token_endpoint"`
	EndSessionEndpoint    string `json:"end_session_endpoint"`
	JWKSURI               string `json:"jwks_uri"`
}

// Metadata returns the discovery document of the issuer. It fetches the document at the first call and refreshes it in
// the background after an hour. A fetch takes at most two seconds and is not repeated for 30 seconds. If it fails, an
// earlier document is returned without error.
func (i *Issuer) Metadata(ctx context.Context) (Metadata, error) {
	m, err := i.metadata.get(ctx, func(Metadata) bool { return true })
	if m.Issuer != "" {
		return m, nil
	}
	return Metadata{}, err
}

func (i *Issuer) fetchMetadata(ctx context.Context) (Metadata, error) {
	if i.config.Issuer == "" {
		return Metadata{}, errors.New(string(NotConfigured))
	}
	var m Metadata
	if err := i.getJSON(ctx, strings.TrimSuffix(i.config.Issuer, "/")+"/.well-known/openid-configuration",
		&m); err != nil {
		return Metadata{}, err
	}
	if m.Issuer != i.config.Issuer {
		return Metadata{}, fmt.Errorf("the discovery document is that of the issuer %q, not of %q", m.Issuer, i.config.Issuer)
	}
	for _, address := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.EndSessionEndpoint, m.JWKSURI} {
		if err := issuerurl.CheckDocument(address, i.config.Loopback); address != "" && err != nil {
			return Metadata{}, fmt.Errorf("the discovery document contains the URL %q: %w", address, err)
		}
	}
	return m, nil
}
