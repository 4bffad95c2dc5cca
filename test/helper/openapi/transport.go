package openapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"toggleadmin/test/helper/roundtrip"
)

// Transport returns base with validation. It calls report with each exchange's first deviation from the document, from
// the goroutine that makes the request. It sends requests and returns responses unchanged. basePath is the part of the
// URL's path before /api, such as a stage.
func (v *Validator) Transport(base http.RoundTripper, basePath string, report func(error)) http.RoundTripper {
	return roundtrip.Func(func(r *http.Request) (*http.Response, error) {
		var sent []byte
		outgoing := r.Clone(r.Context()) // a RoundTripper must not change its request
		if r.Body != nil && r.Body != http.NoBody {
			var err error
			if sent, err = readAll(r.Body); err != nil {
				return nil, fmt.Errorf("read the request body: %w", err)
			}
			outgoing.Body = io.NopCloser(bytes.NewReader(sent))
		}
		response, err := base.RoundTrip(outgoing)
		if err != nil {
			return nil, err
		}
		received, err := readAll(response.Body)
		if err != nil {
			return nil, fmt.Errorf("read the response body: %w", err)
		}
		response.Body = io.NopCloser(bytes.NewReader(received))
		if err := v.check(&exchange{r, sent, response, received, basePath}); err != nil {
			report(err)
		}
		return response, nil
	})
}

func readAll(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	return io.ReadAll(body)
}
