package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/pkg/platform/version"
)

// NewFunction returns the handler of functions/console.
func NewFunction(env *app.Env) (lambda.Handler, error) {
	config := oidc.Config{
		Issuer: env.Vars["OIDC_ISSUER"], ClientID: env.Vars["OIDC_CLIENT_ID"], Loopback: env.Local, Now: env.Now,
		Logger: env.Logger,
	}
	issuer, err := oidc.New(config)
	if err != nil {
		return nil, err
	}
	s, err := newSite()
	if err != nil {
		return nil, err
	}
	if s.version = env.Vars["VERSION"]; s.version == "unknown" { // not deployed by make deploy
		s.version = version.Number
	}
	if config.Issuer != "" {
		s.client = func(ctx context.Context) client { return newClient(ctx, issuer, &config) }
	}
	return env.API(s.serve), nil
}

// serve serves /, /console and /console/{proxy+} for GET and HEAD. Names are compared as they were sent, so an escaped
// character is in no name.
func (s *site) serve(w http.ResponseWriter, r *http.Request) error {
	// browsers ignore it if the connection is not HTTPS, as on one machine
	w.Header().Set("Strict-Transport-Security", "max-age=63072000")
	if r.Pattern == "/" {
		redirect(w, r.URL.JoinPath("console/"))
		return nil
	}
	name, folder := lambdahttp.GatewayFrom(r.Context()).PathParameters["proxy"], strings.HasSuffix(r.URL.Path, "/")
	if page, ok := s.pages[strings.TrimSuffix(name, "/")]; ok {
		if !folder { // the page refers to its files by relative paths
			redirect(w, r.URL.JoinPath("/"))
			return nil
		}
		return s.servePage(w, r, page)
	}
	f, ok := s.files[name]
	if !ok || folder {
		return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
	}
	content, err := f.content()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding") // API Gateway compresses the response
	return write(w, f.contentType, content)
}

// redirect leads to a URL of the same host.
func redirect(w http.ResponseWriter, to *url.URL) {
	w.Header().Set("Location", to.EscapedPath())
	w.WriteHeader(http.StatusFound)
}
