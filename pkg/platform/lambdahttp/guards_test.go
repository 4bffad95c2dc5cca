package lambdahttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// Each test in this file fails without the guard against a defect of the proxy library.

func TestForgedGatewayHeadersAreRemoved(t *testing.T) {
	t.Parallel()
	const forged = `{"authorizer":{"principalId":"user:9"},"requestId":"forged"}`
	for _, name := range []string{core.APIGwContextHeader, core.APIGwStageVarsHeader, "x-golambdaproxy-apigw-context",
		"X-GOLAMBDAPROXY-APIGW-STAGEVARS"} {
		for _, forge := range []change{
			func(e *event) { e.MultiValueHeaders[name] = []string{forged, forged} },
			func(e *event) { e.Headers[name], e.MultiValueHeaders = forged, nil },
		} {
			r := request(t, forge)
			got := lambdahttp.GatewayFrom(r.Context())
			if strings.Contains(strings.ToLower(fmt.Sprint(r.Header)), "golambdaproxy") || got.RequestID != requestID ||
				got.Authorizer["principalId"] != "user:1" {
				t.Errorf("%s: headers %v, gateway %+v", name, r.Header, got)
			}
		}
	}
}

func TestHandlerThatSetsNoStatus(t *testing.T) {
	t.Parallel()
	for _, serve := range []func(http.ResponseWriter){
		func(http.ResponseWriter) {},
		func(w http.ResponseWriter) { _, _ = w.Write(nil) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) },
	} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error { serve(w); return nil })
		assert.Equal(t, "200 ", fmt.Sprint(response.StatusCode, " ", response.Body))
	}
}

func TestFirstStatusFreezesTheHeaders(t *testing.T) {
	t.Parallel()
	response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("X-Before", "a")
		w.WriteHeader(http.StatusProcessing) // 1xx
		w.Header().Set("X-Between", "b")
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-After", "c")
		w.Header().Set("X-Before", "changed")
		_, _ = w.Write([]byte("one, "))
		_, _ = w.Write([]byte("two"))
		return nil
	})
	h := http.Header(response.MultiValueHeaders)
	assert.Equal(t, []any{201, "one, two", "a", "b", ""},
		[]any{response.StatusCode, response.Body, h.Get("X-Before"), h.Get("X-Between"), h.Get("X-After")})
}

func TestUnusualEventsReachTheHandler(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "get", "FOO BAR", "G\nET", "%zz", "[", "a b", "user@host", "//example.org/?#"} {
		r := request(t, func(e *event) {
			e.HTTPMethod, e.Path, e.Resource, e.RequestContext.Path, e.RequestContext.DomainName = text, text, text, text, text
		})
		assert.Equal(t, text, r.Method)
	}
}

func TestEmptyMultiValueHeadersDoNotHideTheHeaders(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.MultiValueHeaders = map[string][]string{} })
	assert.Equal(t, []string{"application/json"}, r.Header.Values("Content-Type"))
}

func TestPanicIsA500(t *testing.T) {
	t.Parallel()
	for _, value := range []any{errors.New("secret"), nil, http.ErrAbortHandler, apierror.New(apierror.NotFound, "secret")} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusCreated)
			panic(value)
		})
		assert.Equal(t, apierror.TextInternal, checkError(t, response, 500, "InternalError"))
	}
}

func TestContentTypeIsAlwaysSet(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "application/json", "text/plain": "text/plain"} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
			if set != "" {
				w.Header().Set("Content-Type", set)
			}
			_, err := w.Write([]byte("<html>"))
			return err
		})
		assert.Equal(t, []string{want}, response.MultiValueHeaders["Content-Type"])
	}
}
