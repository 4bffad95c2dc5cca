package lambdahttp_test

import (
	"errors"
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
		for where, forge := range map[string]change{
			"multi-value headers":  func(e *event) { e.MultiValueHeaders[name] = []string{forged, forged} },
			"single-value headers": func(e *event) { e.Headers[name], e.MultiValueHeaders = forged, nil },
		} {
			t.Run(name+" in "+where, func(t *testing.T) {
				t.Parallel()
				r := request(t, forge)
				for header := range r.Header {
					if strings.Contains(strings.ToLower(header), "golambdaproxy") {
						t.Errorf("the request has the header %s", header)
					}
				}
				if got := lambdahttp.GatewayFrom(r.Context()); got.RequestID != requestID ||
					got.Authorizer["principalId"] != "user:1" {
					t.Errorf("gateway %+v", got)
				}
			})
		}
	}
}

func TestHandlerThatSetsNoStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		serve func(http.ResponseWriter)
	}{
		{"nothing", func(http.ResponseWriter) {}},
		{"headers only", func(w http.ResponseWriter) { w.Header().Set("X-Test", "a") }},
		{"empty body", func(w http.ResponseWriter) { _, _ = w.Write(nil) }},
		{"1xx only", func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			response := respond(t, func(w http.ResponseWriter, _ *http.Request) error { tt.serve(w); return nil })
			if response.StatusCode != http.StatusOK || response.Body != "" {
				t.Errorf("status %d, body %q", response.StatusCode, response.Body)
			}
		})
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
	for name, value := range map[string]any{
		"error": errors.New("secret"), "nil": nil, "http.ErrAbortHandler": http.ErrAbortHandler,
		"API error": apierror.New(apierror.NotFound, "secret"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
				w.WriteHeader(http.StatusCreated)
				panic(value)
			})
			if got := checkError(t, response, 500, "InternalError"); got != apierror.TextInternal {
				t.Errorf("message %q", got)
			}
		})
	}
}

func TestContentTypeIsAlwaysSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, set, body, want string }{
		{"no body", "", "", "application/json"},
		{"a body that looks like HTML", "", "<html>", "application/json"},
		{"set by the handler", "text/plain", "a", "text/plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			response := respond(t, func(w http.ResponseWriter, _ *http.Request) error {
				if tt.set != "" {
					w.Header().Set("Content-Type", tt.set)
				}
				_, err := w.Write([]byte(tt.body))
				return err
			})
			if got := response.MultiValueHeaders["Content-Type"]; !cmp.Equal(got, []string{tt.want}) {
				t.Errorf("Content-Type %q, want %q", got, tt.want)
			}
		})
	}
}
