package lambdahttp_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

func TestPathParametersArePercentDecodedExactlyOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sent, want string }{
		{"plain", "abc", "abc"},
		{"a space", "a%20b", "a b"},
		{"a slash", "a%2Fb", "a/b"},
		{"a slash in lower case", "a%2fb", "a/b"},
		{"a percent sign", "100%25", "100%"},
		{"encoded twice", "a%252Fb", "a%2Fb"},
		{"a plus stays", "a+b", "a+b"},
		{"an encoded plus", "a%2Bb", "a+b"},
		{"a question mark", "a%3Fb=c", "a?b=c"},
		{"a hash", "a%23b", "a#b"},
		{"dots", "%2E%2E", ".."},
		{"dots as they are", "..", ".."},
		{"a semicolon", "a;b=c", "a;b=c"},
		{"UTF-8, encoded", "%C3%A9%F0%9F%98%80", "é😀"},
		{"UTF-8, as it is", "é😀", "é😀"},
		{"NUL", "%00", "\x00"},
		{"255 characters", strings.Repeat("a", 255), strings.Repeat("a", 255)},
		{"255 characters of four bytes, encoded", strings.Repeat("%F0%9F%98%80", 255), strings.Repeat("😀", 255)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.PathParameters["id"] = tt.sent })
			if got, err := lambdahttp.PathParam(r, "id"); err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if got := r.PathValue("id"); got != tt.want {
				t.Errorf("r.PathValue gives %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPathParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sent string }{
		{"a broken escape", "%zz"},
		{"half an escape", "a%2"},
		{"a stray percent sign", "50%"},
		{"not UTF-8 after decoding", "%ff"},
		{"an overlong encoding", "%c0%80"},
		{"a surrogate", "%ed%a0%80"},
		{"half a character", "%C3"},
		{"256 characters", strings.Repeat("a", 256)},
		{"256 characters of four bytes, encoded", strings.Repeat("%F0%9F%98%80", 256)},
		{"empty", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.PathParameters["id"] = tt.sent })
			got, err := lambdahttp.PathParam(r, "id")
			if !errors.Is(err, lambdahttp.ErrPathParam) || got != tt.sent {
				t.Errorf("got %q, %v, want the text as it was sent, %q, and ErrPathParam", got, err, tt.sent)
			}
		})
	}
	t.Run("absent", func(t *testing.T) {
		t.Parallel()
		r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.PathParameters = nil })
		if got, err := lambdahttp.PathParam(r, "id"); !errors.Is(err, lambdahttp.ErrPathParam) || got != "" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestABadPathParameterIsNamedWithWhatWasSent(t *testing.T) {
	t.Parallel()
	const must = "The `/params/period` property must be UTF-8, percent-encoded and at most 255 characters long; you sent "
	for _, tt := range []struct{ name, sent, want string }{
		{"a broken escape", "50%", `"50%".`},
		{"a long one is cut", strings.Repeat("a", 256), `"` + strings.Repeat("a", 100) + `…".`},
		{"a credential is never echoed", eventsToken + "%zz", `"[redacted]".`},
		{"an encoded credential is never echoed", "user%3Av2%5FAAAAAAAAAAEAAAAAAAAAAQ%5Fexample%zz", `"[redacted]".`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			failed := apierror.From(lambdahttp.BadPathParam("period", tt.sent))
			if failed.Kind != apierror.Validation || failed.Message != must+tt.want {
				t.Errorf("got %v", failed)
			}
		})
	}
}

func TestTheAddressThatTheCallerUsed(t *testing.T) {
	t.Parallel()
	const host = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"
	for _, tt := range []struct {
		name, domain, path string
		headers            map[string]string
		want               string
	}{
		{"with the stage", host, "/dev/api/admin/feedback/autumn%20survey", nil, "https://" + host + "/dev"},
		{"with the stage and a trailing slash", host, "/dev/api/admin/feedback/autumn%20survey/", nil, "https://" + host + "/dev"},
		{"with the stage and an encoded slash", host, "/dev/api/admin/feedback/a%2Fb", nil, "https://" + host + "/dev"},
		{"a custom domain", "toggles.example.org", "/api/admin/feedback/a", nil, "https://toggles.example.org"},
		{"a custom domain, trailing slash", "toggles.example.org", "/api/admin/feedback/a/", nil, "https://toggles.example.org"},
		{"a custom domain with a base path", "example.org", "/toggles/api/admin/feedback/a", nil, "https://example.org/toggles"},
		{"a custom domain with a base path of two", "example.org", "/toggles/v1/api/admin/feedback/a/", nil, "https://example.org/toggles/v1"},
		{"a base path that looks like the API's", "example.org", "/api/admin/feedback/api/admin/feedback/a", nil, "https://example.org/api/admin/feedback"},
		{"by http on one machine", "127.0.0.1:3000", "/api/admin/feedback/a", map[string]string{"X-Forwarded-Proto": "http"}, "http://127.0.0.1:3000"},
		{"by http, the header in lower case", "127.0.0.1:3000", "/api/admin/feedback/a", map[string]string{"x-forwarded-proto": "http"}, "http://127.0.0.1:3000"},
		{"by https", host, "/dev/api/admin/feedback/a", map[string]string{"X-Forwarded-Proto": "https"}, "https://" + host + "/dev"},
		{"by neither", host, "/dev/api/admin/feedback/a", map[string]string{"X-Forwarded-Proto": "javascript"}, "https://" + host + "/dev"},
		{"without a domain, by the header Host", "", "/api/admin/feedback/a", map[string]string{"host": "localhost:3000"}, "https://localhost:3000"},
		{"the header Host does not win", host, "/dev/api/admin/feedback/a", map[string]string{"Host": "evil.example"}, "https://" + host + "/dev"},
		{"a path that is too short", host, "/dev", nil, "https://" + host},
		{"no path", host, "", nil, "https://" + host},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) {
				e.Headers, e.MultiValueHeaders = tt.headers, map[string][]string{}
				e.RequestContext.DomainName, e.RequestContext.Path = tt.domain, tt.path
			})
			if got := lambdahttp.RequestOf(r).BaseURL; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			multi := requestOf(t, func(e *events.APIGatewayProxyRequest) {
				e.Headers, e.MultiValueHeaders = nil, map[string][]string{}
				for name, value := range tt.headers {
					e.MultiValueHeaders[name] = []string{value}
				}
				e.RequestContext.DomainName, e.RequestContext.Path = tt.domain, tt.path
			})
			if got := lambdahttp.RequestOf(multi).BaseURL; got != tt.want {
				t.Errorf("by multi-value headers %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWhatTheGatewaySaysAboutARequest(t *testing.T) {
	t.Parallel()
	got := lambdahttp.RequestOf(requestOf(t))
	if got.ID != requestID || got.Method != http.MethodPut || got.ResourcePath != "/api/admin/feedback/{id}" || got.PrincipalID != "user:1" || got.Authorizer["userId"] != "1" {
		t.Errorf("got %+v", got)
	}
	without := lambdahttp.RequestOf(requestOf(t, func(e *events.APIGatewayProxyRequest) { e.RequestContext.Authorizer = nil }))
	if without.PrincipalID != "" || len(without.Authorizer) != 0 {
		t.Errorf("without an authorizer: %+v", without)
	}
	typed := lambdahttp.RequestOf(requestOf(t, func(e *events.APIGatewayProxyRequest) { e.RequestContext.Authorizer = map[string]any{"principalId": 7} }))
	if typed.PrincipalID != "" {
		t.Errorf("a principal that is a number: %+v", typed)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", lambdahttp.MaxBody)
	for _, tt := range []struct {
		name, sent string
		base64     bool
		want       string
		wantErr    error
	}{
		{"text", "é\n", false, "é\n", nil},
		{"empty", "", false, "", nil},
		{"base64", base64.StdEncoding.EncodeToString([]byte("\xff\x00")), true, "\xff\x00", nil},
		{"102,400 bytes", large, false, large, nil},
		{"102,401 bytes", large + "a", false, "", lambdahttp.ErrTooLarge},
		{"102,401 bytes in base64", base64.StdEncoding.EncodeToString([]byte(large + "a")), true, "", lambdahttp.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.Body, e.IsBase64Encoded = tt.sent, tt.base64 })
			got, err := lambdahttp.Body(r)
			if string(got) != tt.want || !errors.Is(err, tt.wantErr) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestARequestWithoutAGatewayBehindIt(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	if got := lambdahttp.RequestOf(r); got.ID != "" || got.BaseURL != "" || got.Authorizer != nil {
		t.Errorf("got %+v", got)
	}
	if body, err := lambdahttp.Body(r); err != nil || body != nil {
		t.Errorf("body %q, %v", body, err)
	}
}
