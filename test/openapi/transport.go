package openapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Transport wraps base so that every exchange is held against the document; report gets what does not fit, once per exchange, from the
// goroutine that made the request. Requests and answers pass unchanged. A document that cannot be loaded is reported for each exchange.
// It takes a few milliseconds to load: where many clients are made, Load once and use the method.
func Transport(base http.RoundTripper, report func(error)) http.RoundTripper {
	validator, err := Load(context.Background())
	if err != nil {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			report(err)
			return base.RoundTrip(r)
		})
	}
	return validator.Transport(base, "", report)
}

// Transport is the function of the same name for a document that is loaded already and an address with a base path, such as a stage.
func (v *Validator) Transport(base http.RoundTripper, basePath string, report func(error)) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent, request, err := requestBody(r)
		if err != nil {
			return nil, err
		}
		response, err := base.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		received, whole := responseBody(response)
		if !whole { // the client finds the same error when it reads
			return response, nil
		}
		exchange := Exchange{Request: r, RequestBody: sent, Response: response, ResponseBody: received, BasePath: basePath}
		if err := v.Check(exchange); err != nil {
			report(err)
		}
		return response, nil
	})
}

// requestBody reads the body of a request and gives a request with the same body to send: a transport may not change the one it got.
func requestBody(r *http.Request) ([]byte, *http.Request, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, r, nil
	}
	body, err := io.ReadAll(r.Body)
	if closeErr := r.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the request's body: %w", err)
	}
	request := r.Clone(r.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body, request, nil
}

// responseBody reads the body of a response and leaves an equal one in its place. The second result says whether it came to its end.
func responseBody(response *http.Response) ([]byte, bool) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // all that it has was read, or err says why not
	if err != nil {
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
		return nil, false
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return body, true
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// broken is the end of a body that could not be read to its end.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
