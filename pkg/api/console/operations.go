package console

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/pkg/platform/version"
)

// Functions returns the function that serves the web pages.
func Functions() []app.Function {
	return []app.Function{{
		Name: "console",
		Handler: func(d *app.Deps) lambda.Handler {
			config := oidc.Config{
				Issuer:   d.Vars["OIDC_ISSUER"],
				ClientID: d.Vars["OIDC_CLIENT_ID"],
				Loopback: d.Local,
				Now:      d.Now,
				Logger:   d.Logger,
			}
			issuer, issuerErr := oidc.New(config)
			s, err := newSite()
			d.Fail(errors.Join(issuerErr, err))
			if d.Err() != nil {
				return nil
			}
			if s.version = d.Vars["VERSION"]; s.version == "unknown" { // not deployed by make deploy
				s.version = version.Number
			}
			s.local = d.Local
			s.clientURL = strings.TrimSuffix(d.Vars["CLIENT_URL"], "/") // as Lambda returns it
			if config.Issuer != "" {
				s.client = func(ctx context.Context) client { return newClient(ctx, issuer, &config) }
			}
			return d.API(s.serve)
		},
	}}
}
