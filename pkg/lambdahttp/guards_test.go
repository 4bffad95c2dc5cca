package lambdahttp_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

// The tests here hold the guards around the proxy library: each fails without its guard.

func TestForgedContextHeadersNeverReachAHandler(t *testing.T) {
	t.Parallel()
	const forged = `{"authorizer":{"principalId":"user:1","userId":"1","permissions":"ADMIN"},"requestId":"forged"}`
	for _, name := range []string{
		core.APIGwContextHeader, core.APIGwStageVarsHeader, "x-golambdaproxy-apigw-context", "X-GOLAMBDAPROXY-APIGW-CONTEXT",
		"x-GoLambdaProxy-apigw-CONTEXT", "x-golambdaproxy-apigw-stagevars", "X-GOLAMBDAPROXY-APIGW-STAGEVARS",
	} {
		for where, forge := range map[string]func(*events.APIGatewayProxyRequest){
			"both maps": func(e *events.APIGatewayProxyRequest) {
				e.Headers[name], e.MultiValueHeaders[name] = forged, []string{forged}
			},
			"twice":         func(e *events.APIGatewayProxyRequest) { e.MultiValueHeaders[name] = []string{forged, forged} },
			"single values": func(e *events.APIGatewayProxyRequest) { e.Headers[name], e.MultiValueHeaders = forged, nil },
		} {
			t.Run(name+" in "+where, func(t *testing.T) {
				t.Parallel()
				r := requestOf(t, func(e *events.APIGatewayProxyRequest) {
					e.RequestContext.Authorizer = map[string]any{"principalId": "user:3", "userId": "3", "permissions": ""}
				}, forge)
				for header := range r.Header {
					if strings.Contains(strings.ToLower(header), "golambdaproxy") {
						t.Errorf("the header %s is there", header)
					}
				}
				request := lambdahttp.RequestOf(r)
				want := map[string]any{"principalId": "user:3", "userId": "3", "permissions": ""}
				if diff := cmp.Diff(want, request.Authorizer); diff != "" || request.PrincipalID != "user:3" || request.ID != requestID {
					t.Errorf("the principal is %q, the request %q; authorizer (-want +got):\n%s", request.PrincipalID, request.ID, diff)
				}
			})
		}
	}
}

func TestTheInvocationsContextReachesTheHandler(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx := lambdacontext.NewContext(context.WithValue(t.Context(), key{}, "kept"), &lambdacontext.LambdaContext{AwsRequestID: "lambda"})
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		if r.Context().Value(key{}) != "kept" {
			t.Error("the context is another one")
		}
		if invocation, ok := lambdacontext.FromContext(r.Context()); !ok || invocation.AwsRequestID != "lambda" {
			t.Errorf("the invocation is %v", invocation)
		}
		return nil
	})
	call(ctx, t, handler, sample(t))
}

func TestAHandlerThatWritesNothingAnswers200(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		serve lambdahttp.HandlerFunc
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) error { return nil }},
		{"only headers", func(w http.ResponseWriter, _ *http.Request) error { w.Header().Set("X-Of-Handler", "a"); return nil }},
		{"an empty body", func(w http.ResponseWriter, _ *http.Request) error { _, err := w.Write(nil); return err }},
		{"only a 1xx", func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(http.StatusEarlyHints); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := serveSample(t, tt.serve)
			if answer.StatusCode != http.StatusOK || answer.Body != "" {
				t.Errorf("status %d, body %q", answer.StatusCode, answer.Body)
			}
			if tt.name == "only headers" && !slices.Equal(answer.MultiValueHeaders["X-Of-Handler"], []string{"a"}) {
				t.Errorf("headers %v", answer.MultiValueHeaders)
			}
		})
	}
}

func TestTheFirstStatusWinsAndFreezesTheHeaders(t *testing.T) {
	t.Parallel()
	answer := serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("X-Before", "a")
		w.WriteHeader(http.StatusProcessing) // no answer yet
		w.Header().Set("X-Between", "b")
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-After", "c")
		w.Header().Set("X-Before", "changed")
		_, _ = w.Write([]byte("one, "))
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("two"))
		w.Header().Add("X-Between", "more")
		return nil
	})
	if answer.StatusCode != http.StatusCreated || answer.Body != "one, two" {
		t.Errorf("status %d, body %q", answer.StatusCode, answer.Body)
	}
	h := http.Header(answer.MultiValueHeaders)
	if h.Get("X-Before") != "a" || !slices.Equal(h["X-Between"], []string{"b"}) || h.Get("X-After") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestAStrayPercentSignAndADecodedQuestionMarkInThePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path string }{
		{"a stray percent sign", "/api/admin/feedback/50%"},
		{"a broken escape", "/api/admin/feedback/%zz"},
		{"a decoded question mark", "/api/admin/feedback/a?b=c"},
		{"a decoded hash", "/api/admin/feedback/a#b"},
		{"a decoded control character", "/api/admin/feedback/a\x7f\n"},
		{"a decoded space", "/api/admin/feedback/a b"},
		{"an empty path", ""},
		{"another host", "//example.org/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.Path = tt.path })
			if r.URL.Path != "/api/admin/feedback/{id}" || r.URL.RawQuery != "" || r.URL.Fragment != "" {
				t.Errorf("the URL is %s", r.URL)
			}
			if got := r.PathValue("id"); got != "autumn survey" {
				t.Errorf("id is %q", got)
			}
		})
	}
}

func TestQueryParametersAreIgnored(t *testing.T) {
	t.Parallel()
	r := requestOf(t, func(e *events.APIGatewayProxyRequest) {
		e.QueryStringParameters = map[string]string{"id": "b"}
		e.MultiValueQueryStringParameters = map[string][]string{"id": {"a", "b"}}
	})
	if r.URL.RawQuery != "" || r.FormValue("id") != "" || r.PathValue("id") != "autumn survey" {
		t.Errorf("URL %s, id %q", r.URL, r.PathValue("id"))
	}
}

func TestAHostThatIsNoneIsNoError(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"a b", "%", "[", "a:b:c", "é\n", "user@host"} {
		requestOf(t, func(e *events.APIGatewayProxyRequest) { e.RequestContext.DomainName = host })
	}
}

func TestAMethodThatIsNoneIsNoError(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"", "get", "PUT", "M-SEARCH", "FOO BAR", "G\nET", "É", "x-amazon-apigateway-any-method", strings.Repeat("A", 5000), "\x00"} {
		r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.HTTPMethod = method })
		if got := lambdahttp.RequestOf(r).Method; got != method {
			t.Errorf("the method is %q, want %q", got, method)
		}
	}
	if r := requestOf(t); r.Method != http.MethodPut {
		t.Errorf("the method is %q, want PUT", r.Method)
	}
}

func TestEmptyMultiValueHeadersDoNotHideTheHeaders(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]map[string][]string{"null": nil, "an empty object": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.MultiValueHeaders = empty })
			if got := r.Header.Values("Content-Type"); !slices.Equal(got, []string{"application/json"}) {
				t.Errorf("Content-Type %q", got)
			}
		})
	}
}

func TestAPanicIsThe500ErrorObject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		value any
	}{
		{"an error", errors.New("secret cause")}, {"a text", "secret cause"}, {"a number", 7}, {"nil", nil}, {"http.ErrAbortHandler", http.ErrAbortHandler},
		{"an error of the API", apierror.New(apierror.NotFound, "secret cause")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("X-Of-Handler", "a")
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write([]byte("half an answer"))
				panic(tt.value)
			})
			text := message(t, answer, 500, "InternalError")
			if text != apierror.TextInternal || answer.MultiValueHeaders["X-Of-Handler"] != nil {
				t.Errorf("text %q, headers %v", text, answer.MultiValueHeaders)
			}
		})
	}
	t.Run("a nil pointer", func(t *testing.T) {
		t.Parallel()
		message(t, serveSample(t, func(http.ResponseWriter, *http.Request) error {
			return apierror.New(apierror.NotFound, none().Path)
		}), 500, "InternalError")
	})
}

// none gives no URL, behind the back of those who look for nil pointers.
func none() *url.URL { return nil }

func TestTheLibrarysOwnErrorsAreThe500ErrorObject(t *testing.T) {
	t.Parallel()
	answer := serveSample(t, func(http.ResponseWriter, *http.Request) error { return nil },
		func(e *events.APIGatewayProxyRequest) { e.Resource = "/%zz" }) // no template has that
	if text := message(t, answer, 500, "InternalError"); text != apierror.TextInternal {
		t.Errorf("text %q", text)
	}
}

func TestAContentTypeIsAlwaysSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, contentType, body, want string
	}{
		{"none, and no body", "", "", "application/json"},
		{"none, and a body that looks like HTML", "", "<html>", "application/json"},
		{"the handler's own", "text/plain", "a", "text/plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := serveSample(t, func(w http.ResponseWriter, _ *http.Request) error {
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				_, err := w.Write([]byte(tt.body))
				return err
			})
			if got := answer.MultiValueHeaders["Content-Type"]; !slices.Equal(got, []string{tt.want}) {
				t.Errorf("Content-Type %q", got)
			}
		})
	}
}

func TestNobodyGetsARemoteAddrWithoutAPort(t *testing.T) {
	t.Parallel()
	if r := requestOf(t); r.RemoteAddr != "" {
		t.Errorf("RemoteAddr %q", r.RemoteAddr)
	}
}

func TestABodyWithBrokenBase64ReachesTheHandler(t *testing.T) {
	t.Parallel()
	r := requestOf(t, func(e *events.APIGatewayProxyRequest) { e.Body, e.IsBase64Encoded = "%%%", true })
	if body, err := lambdahttp.Body(r); err == nil || errors.Is(err, lambdahttp.ErrTooLarge) {
		t.Errorf("body %q, %v", body, err)
	}
}

// The library reads this variable at each request, for a host that nobody needs.
func TestNothingSetsTheLibrarysHost(t *testing.T) {
	t.Parallel()
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(template, []byte(core.CustomHostVariable)) {
		t.Errorf("template.yaml sets %s", core.CustomHostVariable)
	}
}

// Its go.mod lists a dozen web frameworks.
func TestOnlyTheLibrarysAdapterAndCoreAreLinked(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./functions/...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const library = "github.com/awslabs/aws-lambda-go-api-proxy/"
	var got []string
	for path := range strings.FieldsSeq(string(out)) {
		for _, framework := range []string{library, "github.com/gin-gonic/", "github.com/labstack/", "github.com/gofiber/", "github.com/kataras/", "github.com/go-chi/", "github.com/gorilla/"} {
			if strings.HasPrefix(path, framework) {
				got = append(got, path)
			}
		}
	}
	if diff := cmp.Diff([]string{library + "core", library + "httpadapter"}, got); diff != "" {
		t.Errorf("linked (-want +got):\n%s", diff)
	}
}
