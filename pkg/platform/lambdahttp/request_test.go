package lambdahttp_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.Body = "seven b" })
	if r.Method != http.MethodPut || r.Host != r.URL.Host || r.RequestURI != "/dev/api/admin/feedback/autumn%20survey" ||
		r.ContentLength != 7 {
		t.Errorf("method %s, host %s, request URI %s, content length %d", r.Method, r.Host, r.RequestURI, r.ContentLength)
	}
	if got := r.Header.Values("Content-Type"); !cmp.Equal(got, []string{"application/json"}) {
		t.Errorf("Content-Type %q", got)
	}
	gateway := lambdahttp.GatewayFrom(r.Context())
	if gateway.RequestID != requestID || gateway.Authorizer["principalId"] != "user:1" {
		t.Errorf("gateway %+v", gateway)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	const host = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"
	for _, tt := range []struct {
		name, domain, path string
		headers            map[string]string
		want               string
	}{
		{"stage", host, "/dev/api/admin/feedback/autumn%20survey", nil,
			"https://" + host + "/dev/api/admin/feedback/autumn%20survey"},
		{"encoded slash", host, "/dev/api/admin/feedback/a%2Fb", nil, "https://" + host + "/dev/api/admin/feedback/a%2Fb"},
		{"custom domain with base path", "example.org", "/toggles/api/admin/feedback/a/", nil,
			"https://example.org/toggles/api/admin/feedback/a/"},
		{"HTTP", "127.0.0.1:3000", "/a", map[string]string{"x-forwarded-proto": "http"}, "http://127.0.0.1:3000/a"},
		{"HTTPS", host, "/a", map[string]string{"X-Forwarded-Proto": "https"}, "https://" + host + "/a"},
		{"unknown protocol", host, "/a", map[string]string{"X-Forwarded-Proto": "javascript"}, "https://" + host + "/a"},
		{"domain missing", "", "/a", map[string]string{"host": "localhost:3000"}, "https://localhost:3000/a"},
		{"Host header does not override the domain", host, "/a", map[string]string{"Host": "evil.example"},
			"https://" + host + "/a"},
		{"path missing", host, "", nil, "https://" + host},
		{"stray percent sign", host, "/50%", nil, "https://" + host + "/50%25"},
		{"question mark and space", host, "/a b?c", nil, "https://" + host + "/a%20b%3Fc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, func(e *event) {
				e.Headers, e.MultiValueHeaders = tt.headers, nil
				e.RequestContext.DomainName, e.RequestContext.Path = tt.domain, tt.path
				e.MultiValueQueryStringParameters = map[string][]string{"id": {"ignored"}}
			})
			if got := r.URL.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSAMLocalRepeatsTheResource(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.Resource, e.RequestContext.Path, e.Path = "/a/{id}", "/a/{id}", "/a/b%20c/" })
	if r.URL.EscapedPath() != "/a/b%20c/" || r.Pattern != "/a/{id}" {
		t.Errorf("path %s, pattern %s", r.URL.EscapedPath(), r.Pattern)
	}
}

func TestPathParam(t *testing.T) {
	t.Parallel()
	const emoji = "%F0%9F%98%80"
	for _, tt := range []struct {
		name, sent, want string
		invalid          bool
	}{
		{"plain", "abc", "abc", false},
		{"encoded", "a%20b%2Fc%2fd%25", "a b/c/d%", false},
		{"encoded twice, decoded once", "a%252Fb", "a%2Fb", false},
		{"plus", "a+b%2Bc", "a+b+c", false},
		{"delimiters of a URL", "a%3Fb;c=d%23e", "a?b;c=d#e", false},
		{"dots", "%2E%2E", "..", false},
		{"UTF-8", "é%C3%A9", "éé", false},
		{"NUL", "%00", "\x00", false},
		{"255 characters", strings.Repeat(emoji, 255), strings.Repeat("😀", 255), false},
		{"256 characters", strings.Repeat("a", 256), "", true},
		{"broken escape", "%zz", "", true},
		{"stray percent sign", "50%", "", true},
		{"not UTF-8", "%ff", "", true},
		{"empty", "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, func(e *event) { e.PathParameters["id"] = tt.sent })
			if got := r.PathValue("id"); got != tt.want {
				t.Errorf("PathValue is %q, want %q", got, tt.want)
			}
			want, wantErr := tt.want, error(nil)
			if tt.invalid {
				want, wantErr = tt.sent, lambdahttp.ErrPathParam
			}
			if got, err := lambdahttp.PathParam(r, "id"); got != want || !errors.Is(err, wantErr) {
				t.Errorf("PathParam returns %q, %v, want %q, %v", got, err, want, wantErr)
			}
		})
	}
}

func TestBadPathParam(t *testing.T) {
	t.Parallel()
	got := apierror.From(lambdahttp.BadPathParam("period", strings.Repeat("a", 256)))
	want := "The `/params/period` property must be UTF-8, percent-encoded and at most 255 characters long; you sent \"" +
		strings.Repeat("a", 100) + "…\"."
	if got.Kind != apierror.Validation || got.Message != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	limit := strings.Repeat("a", lambdahttp.MaxBody)
	encoded := func(body string) string { return base64.StdEncoding.EncodeToString([]byte(body)) }
	tooLarge := &http.MaxBytesError{Limit: 102_400}
	for _, tt := range []struct {
		name, sent string
		base64     bool
		want       string
		wantErr    error
	}{
		{"empty", "", false, "", nil},
		{"102,400 bytes", limit, false, limit, nil},
		{"102,401 bytes", limit + "a", false, limit, tooLarge},
		{"invalid UTF-8", "\xff", false, "\ufffd", nil},
		{"base64", encoded("\xff\x00"), true, "\xff\x00", nil},
		{"base64 of 102,401 bytes", encoded(limit + "a"), true, limit, tooLarge},
		{"broken base64", "%%%%", true, "", base64.CorruptInputError(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, func(e *event) { e.Body, e.IsBase64Encoded = tt.sent, tt.base64 })
			got, err := io.ReadAll(r.Body)
			if string(got) != tt.want || !cmp.Equal(err, tt.wantErr) {
				t.Errorf("got %d bytes and error %v, want %d bytes and error %v", len(got), err, len(tt.want), tt.wantErr)
			}
			if tt.base64 != (r.ContentLength < 0) {
				t.Errorf("content length %d", r.ContentLength)
			}
		})
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		if got, _ := r.Context().Deadline(); !got.Equal(deadline.Add(-lambdahttp.DeadlineMargin)) {
			t.Errorf("deadline is %v before the end of the invocation", deadline.Sub(got))
		}
		if r.Context().Value(key{}) != "value" {
			t.Error("the invocation's context is lost")
		}
		return nil
	})
	if _, err := handler.Invoke(ctx, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got, ok := request(t).Context().Deadline(); ok {
		t.Errorf("deadline %v without one of the invocation", got)
	}
}
