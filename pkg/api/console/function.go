package console

import (
	"net/http"
	"net/url"
	"strings"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
)

// serve serves /, /console and /console/{proxy+} for GET and HEAD. Names are compared as they were sent, so an escaped
// character is in no name.
func (s *site) serve(w http.ResponseWriter, r *http.Request) error {
	// browsers ignore it if the connection is not HTTPS, as on one machine
	w.Header().Set("Strict-Transport-Security", "max-age=63072000")
	if r.Pattern == "/" {
		redirect(w, r.URL.JoinPath("console/"))
		return nil
	}
	name, folder := apigateway.RequestFrom(r.Context()).PathParameters["proxy"], strings.HasSuffix(r.URL.Path, "/")
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
