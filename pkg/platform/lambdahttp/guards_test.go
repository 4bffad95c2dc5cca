package lambdahttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
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
	for i, serve := range []func(http.ResponseWriter){
		func(http.ResponseWriter) {},
		func(w http.ResponseWriter) { _, _ = w.Write(nil) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) },
	} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error { serve(w); return nil })
		if response.StatusCode != http.StatusOK || response.Body != "" {
			t.Errorf("%d: status %d, body %q", i, response.StatusCode, response.Body)
		}
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
	got := []string{response.Body, h.Get("X-Before"), h.Get("X-Between"), h.Get("X-After")}
	if diff := cmp.Diff([]string{"one, two", "a", "b", ""}, got); diff != "" || response.StatusCode != http.StatusCreated {
		t.Errorf("status %d, body and headers (-want +got):\n%s", response.StatusCode, diff)
	}
}

func TestUnusualEventsReachTheHandler(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "get", "FOO BAR", "G\nET", "%zz", "[", "a b", "user@host", "//example.org/?#"} {
		r := request(t, func(e *event) {
			e.HTTPMethod, e.Path, e.Resource, e.RequestContext.Path, e.RequestContext.DomainName = text, text, text, text, text
		})
		if r.Method != text {
			t.Errorf("method %q, want %q", r.Method, text)
		}
	}
}

func TestEmptyMultiValueHeadersDoNotHideTheHeaders(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.MultiValueHeaders = map[string][]string{} })
	if got := r.Header.Values("Content-Type"); !cmp.Equal(got, []string{"application/json"}) {
		t.Errorf("Content-Type %q", got)
	}
}

func TestPanicIsA500(t *testing.T) {
	t.Parallel()
	for _, value := range []any{errors.New("secret"), nil, http.ErrAbortHandler, apierror.New(apierror.NotFound, "secret")} {
		response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusCreated)
			panic(value)
		})
		if got := checkError(t, response, 500, "InternalError"); got != apierror.TextInternal {
			t.Errorf("message %q", got)
		}
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
		if got := response.MultiValueHeaders["Content-Type"]; !cmp.Equal(got, []string{want}) {
			t.Errorf("Content-Type %q, want %q", got, want)
		}
	}
}
