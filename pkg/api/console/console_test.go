package console_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/console"
	"toggleadmin/pkg/platform/app"
)

// newFunction returns the function with an OpenID Connect issuer, if there is one.
func newFunction(t *testing.T, issuer, clientID string) lambda.Handler {
	t.Helper()
	handler, err := console.NewFunction(&app.Env{
		Vars: map[string]string{"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": clientID, "VERSION": "1.2.3+4567890a"}, Local: true,
		Now: time.Now, Random: strings.NewReader(strings.Repeat("x", 1000)), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// get requests a path below a stage, or below a custom domain if the stage is empty.
func get(t *testing.T, function lambda.Handler, stage, requestPath string) events.APIGatewayProxyResponse {
	t.Helper()
	event := events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Resource: strings.TrimSuffix(requestPath, "/"),
		Path: requestPath}
	event.RequestContext.Path = stage + requestPath
	if name, ok := strings.CutPrefix(requestPath, "/console/"); ok && name != "" {
		event.Resource, event.PathParameters = "/console/{proxy+}", map[string]string{"proxy": strings.TrimSuffix(name, "/")}
	}
	if requestPath == "/" {
		event.Resource = "/"
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	output, err := function.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(output, &response); err != nil {
		t.Fatal(err)
	}
	return response
}

func header(response events.APIGatewayProxyResponse) http.Header { return response.MultiValueHeaders }

func TestRedirects(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	for _, tt := range []struct{ name, stage, path, want string }{
		{"root of a stage", "/dev", "/", "/dev/console/"},
		{"root of a domain", "", "/", "/console/"},
		{"a stage with the name console", "/console", "/", "/console/console/"},
		{"console below a stage", "/dev", "/console", "/dev/console/"},
		{"console of a domain", "", "/console", "/console/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			response := get(t, function, tt.stage, tt.path)
			if got := header(response).Get("Location"); response.StatusCode != http.StatusFound || got != tt.want {
				t.Errorf("status %d, Location %q, want %q", response.StatusCode, got, tt.want)
			}
		})
	}
}

// filesPath is the folder of the files in a page.
var filesPath = regexp.MustCompile(`static-[0-9a-f]{8}`)

func TestPages(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	for name, content := range files(t) {
		folder, isPage := strings.CutSuffix(name, "index.html")
		if !isPage {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := get(t, function, "/dev", "/console/"+folder)
			want := strings.NewReplacer(
				"{{files}}", filesPath.FindString(response.Body), "{{config}}", "{}", "{{version}}",
				"1.2.3+4567890a").Replace(content)
			if diff := cmp.Diff(want, response.Body); diff != "" || response.StatusCode != http.StatusOK {
				t.Errorf("status %d\n%s", response.StatusCode, diff)
			}
			for name, want := range map[string]string{
				"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer",
				"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
				"Strict-Transport-Security": "max-age=63072000",
			} {
				if got := header(response).Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			policy := header(response).Get("Content-Security-Policy")
			for _, directive := range []string{
				"default-src 'none'", "script-src 'self'", "connect-src 'self'", "form-action 'none'", "base-uri 'none'",
				"frame-ancestors 'none'",
			} {
				if !strings.Contains(policy+";", directive+";") {
					t.Errorf("the policy does not contain %q: %s", directive, policy)
				}
			}
			if inline := strings.Contains(policy, "unsafe-inline"); inline != (folder == "api/") ||
				strings.Contains(policy, "style-src 'self' 'unsafe-inline'") != inline {
				t.Errorf("only the styles of the API reference may be inline: %s", policy)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	folder := filesPath.FindString(get(t, function, "/dev", "/console/").Body)
	for name, content := range files(t) {
		response := get(t, function, "/dev", "/console/"+folder+"/"+name)
		if strings.HasSuffix(name, "index.html") {
			if response.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d, want 404: it is served as a page", name, response.StatusCode)
			}
			continue
		}
		if response.StatusCode != http.StatusOK || response.Body != content || !utf8.ValidString(content) {
			t.Errorf("%s: status %d, %d bytes, want 200 and %d bytes of UTF-8", name, response.StatusCode, len(response.Body),
				len(content))
		}
		if got := header(response).Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control: %s", name, got)
		}
		if got := header(response).Get("Content-Type"); path.Ext(name) == ".js" && got != "text/javascript; charset=utf-8" {
			t.Errorf("%s: Content-Type: %s", name, got) // a browser runs no module of another type
		}
	}
}

func TestUnknownFiles(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	folder := "/console/" + filesPath.FindString(get(t, function, "/dev", "/console/").Body)
	for _, name := range []string{
		"/console/main.js", "/console/static-00000000/main.js", folder, folder + "/", folder + "/main.js/",
		folder + "/MAIN.JS", folder + "//main.js",
		folder + "/views/../main.js", folder + "/views/..%2fmain.js", folder + "%2Fmain.js", folder + "/main.js%00",
		folder + "/%zz", folder + "/\xff",
		"/console/API/", "/console/api/index.html", "/console/..%2f..%2fapi", "/console/static/main.js",
	} {
		if got := get(t, function, "/dev", name); got.StatusCode != http.StatusNotFound ||
			!strings.Contains(got.Body, `"name":"NotFoundError"`) {
			t.Errorf("%s: status %d, %.100s", name, got.StatusCode, got.Body)
		}
	}
}

// TestIssuer serves the page with metadata that contain markup.
func TestIssuer(t *testing.T) {
	t.Parallel()
	const clientID = `</script><script>alert(1)</script><!--'"`
	server := httptest.NewServer(nil)
	defer server.Close()
	url := server.URL + `/x</script><script>alert(2)</script>&amp;`
	for _, tt := range []struct {
		name, token string // the token endpoint
		status      int
		want        map[string]any
		connect     string
	}{
		{
			"markup", url, http.StatusOK,
			map[string]any{
				"issuer": server.URL, "clientId": clientID, "authorizationEndpoint": url, "tokenEndpoint": url,
				"endSessionEndpoint": url,
			},
			"connect-src 'self' " + server.URL + ";",
		},
		{
			"policy", server.URL + "x;script-src *", http.StatusOK,
			map[string]any{"issuer": server.URL, "clientId": clientID, "issuerError": true}, "connect-src 'self';",
		},
		{
			"no token endpoint", "", http.StatusOK,
			map[string]any{"issuer": server.URL, "clientId": clientID, "issuerError": true}, "connect-src 'self';",
		},
		{
			"failure", url, http.StatusInternalServerError,
			map[string]any{"issuer": server.URL, "clientId": clientID, "issuerError": true}, "connect-src 'self';",
		},
	} {
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_ = json.NewEncoder(w).Encode(map[string]string{
				"issuer": server.URL, "authorization_endpoint": url, "token_endpoint": tt.token, "end_session_endpoint": url,
				"jwks_uri": url,
			})
		})
		response := get(t, newFunction(t, server.URL, clientID), "/dev", "/console/")
		_, rest, _ := strings.Cut(response.Body, `id="config">`)
		block, _, _ := strings.Cut(rest, "<")
		var got map[string]any
		if err := json.NewDecoder(strings.NewReader(block)).Decode(&got); err != nil {
			t.Errorf("%s: %v in %s", tt.name, err, response.Body)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || response.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d\n%s", tt.name, response.StatusCode, diff)
		}
		if policy := header(response).Get("Content-Security-Policy"); !strings.Contains(policy, tt.connect) {
			t.Errorf("%s: %s, want %s", tt.name, policy, tt.connect)
		}
	}
}

func TestInvalidIssuer(t *testing.T) {
	t.Parallel()
	_, err := console.NewFunction(&app.Env{Vars: map[string]string{"OIDC_ISSUER": "http://127.0.0.1",
		"OIDC_CLIENT_ID": "x"}})
	if err == nil || !strings.Contains(err.Error(), "OIDC_ISSUER") {
		t.Errorf("error %v", err)
	}
}
