package console_test

import (
	"encoding/json"
	"fmt"
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

	"toggleadmin/pkg/api/console"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/helper/assert"
)

// newFunction returns the function with an OpenID Connect issuer, if there is one.
func newFunction(t *testing.T, issuer, clientID string) lambda.Handler {
	t.Helper()
	return newFunctionWith(t, map[string]string{"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": clientID})
}

// newFunctionWith returns the function with environment variables.
func newFunctionWith(t *testing.T, variables map[string]string) lambda.Handler {
	t.Helper()
	variables["VERSION"] = "1.2.3+4567890a"
	handler, err := app.Find(console.Functions(), "console")(&app.Env{
		Vars: variables, Local: true,
		Now: time.Now, Random: strings.NewReader(strings.Repeat("x", 1000)), Logger: slog.New(slog.DiscardHandler),
	})
	assert.OK(t, err)
	return handler
}

func get(t *testing.T, function lambda.Handler, stage, requestPath string) events.APIGatewayProxyResponse {
	t.Helper()
	return request(t, function, http.MethodGet, stage, requestPath)
}

// request requests a path below a stage, or below a custom domain if the stage is empty.
func request(t *testing.T, function lambda.Handler, method, stage, requestPath string) events.APIGatewayProxyResponse {
	t.Helper()
	event := events.APIGatewayProxyRequest{HTTPMethod: method, Resource: strings.TrimSuffix(requestPath, "/"),
		Path: requestPath}
	event.RequestContext.Path = stage + requestPath
	if name, ok := strings.CutPrefix(requestPath, "/console/"); ok && name != "" {
		event.Resource, event.PathParameters = "/console/{proxy+}", map[string]string{"proxy": strings.TrimSuffix(name, "/")}
	}
	if requestPath == "/" {
		event.Resource = "/"
	}
	payload, err := json.Marshal(event)
	assert.OK(t, err)
	output, err := function.Invoke(t.Context(), payload)
	assert.OK(t, err)
	var response events.APIGatewayProxyResponse
	assert.OK(t, json.Unmarshal(output, &response))
	return response
}

func header(response events.APIGatewayProxyResponse) http.Header { return response.MultiValueHeaders }

func TestRedirects(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	for _, test := range []struct {
		stage    string // empty: below a custom domain
		path     string
		location string
	}{
		{"/dev", "/", "/dev/console/"},
		{"", "/", "/console/"},
		{"/console", "/", "/console/console/"},
		{"/dev", "/console", "/dev/console/"},
		{"", "/console", "/console/"},
	} {
		response := get(t, function, test.stage, test.path)
		assert.Equal(t, test.location, header(response).Get("Location"))
		assert.Equal(t, http.StatusFound, response.StatusCode)
	}
}

// A response to HEAD is that to GET without its body.
func TestHead(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	folder := filesPath.FindString(request(t, function, http.MethodGet, "/dev", "/console/").Body)
	for _, path := range []string{"/", "/console", "/console/", "/console/" + folder + "/main.js", "/console/unknown"} {
		want, got := request(t, function, http.MethodGet, "/dev", path), request(t, function, http.MethodHead, "/dev", path)
		want.Body = ""
		assert.Equal(t, want, got)
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
		response := get(t, function, "/dev", "/console/"+folder)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, strings.NewReplacer("{{files}}", filesPath.FindString(response.Body), "{{config}}", `{"local":true}`, "{{version}}",
			"1.2.3+4567890a").Replace(content), response.Body)
		styles := "'self'"
		if folder == "api/" { // the styles of the API reference may be inline
			styles += " 'unsafe-inline'"
		}
		for _, test := range []struct{ name, value string }{
			{"Content-Type", "text/html; charset=utf-8"},
			{"Cache-Control", "no-cache"},
			{"Referrer-Policy", "no-referrer"},
			{"X-Content-Type-Options", "nosniff"},
			{"Cross-Origin-Opener-Policy", "same-origin"},
			{"Strict-Transport-Security", "max-age=63072000"},
			{
				"Content-Security-Policy",
				"default-src 'none'; script-src 'self'; style-src " + styles + "; img-src 'self' data:; font-src 'self'; " +
					"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
					"require-trusted-types-for 'script'; trusted-types lit-html",
			},
		} {
			assert.Equal(t, test.value, header(response).Get(test.name))
		}
	}
}

// The page knows the URL for applications, and does not call it.
func TestClientURL(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"": `{"local":true}`,
		"https://x.lambda-url.eu-north-1.on.aws/": `{"local":true,"clientUrl":"https://x.lambda-url.eu-north-1.on.aws"}`,
		"http://127.0.0.1:3002":                   `{"local":true,"clientUrl":"http://127.0.0.1:3002"}`,
	} {
		response := get(t, newFunctionWith(t, map[string]string{"CLIENT_URL": variable}), "/dev", "/console/")
		if !strings.Contains(response.Body, `id="config">`+want+"</script>") {
			t.Errorf("%q: %s", variable, response.Body)
		}
		if policy := header(response).Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self';") {
			t.Errorf("%q: %s", variable, policy)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	folder := filesPath.FindString(get(t, function, "/dev", "/console/").Body)
	for name, content := range files(t) {
		response := get(t, function, "/dev", "/console/"+folder+"/"+name)
		if strings.HasSuffix(name, "index.html") { // it is served as a page
			assert.Equal(t, http.StatusNotFound, response.StatusCode)
			continue
		}
		if response.StatusCode != http.StatusOK || response.Body != content || !utf8.ValidString(content) {
			t.Errorf("%s: status %d, %d bytes, want 200 and %d bytes of UTF-8", name, response.StatusCode, len(response.Body),
				len(content))
		}
		assert.Equal(t, "public, max-age=31536000, immutable", header(response).Get("Cache-Control"))
		if path.Ext(name) == ".js" { // a browser runs no module of another type
			assert.Equal(t, "text/javascript; charset=utf-8", header(response).Get("Content-Type"))
		}
	}
}

func TestUnknownFiles(t *testing.T) {
	t.Parallel()
	function := newFunction(t, "", "")
	folder := "/console/" + filesPath.FindString(get(t, function, "/dev", "/console/").Body)
	for _, path := range []string{
		"/console/main.js",
		"/console/static-00000000/main.js",
		folder,
		folder + "/",
		folder + "/main.js/",
		folder + "/MAIN.JS",
		folder + "//main.js",
		folder + "/views/../main.js",
		folder + "/views/..%2fmain.js",
		folder + "%2Fmain.js",
		folder + "/main.js%00",
		folder + "/%zz",
		folder + "/\xff",
		"/console/API/",
		"/console/api/index.html",
		"/console/..%2f..%2fapi",
		"/console/static/main.js",
	} {
		if got := get(t, function, "/dev", path); got.StatusCode != http.StatusNotFound ||
			!strings.Contains(got.Body, `"name":"NotFoundError"`) {
			t.Errorf("%s: status %d, %.100s", path, got.StatusCode, got.Body)
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
	const onlySelf = "connect-src 'self'; "
	unavailable := "map[clientId:" + clientID + " issuer:" + server.URL + " issuerError:true local:true]"
	for _, test := range []struct {
		tokenEndpoint string
		status        int
		policy        string
		configuration string
	}{
		{
			tokenEndpoint: url,
			status:        200,
			policy:        "connect-src 'self' " + server.URL + ";",
			configuration: "map[authorizationEndpoint:" + url + " clientId:" + clientID + " endSessionEndpoint:" + url +
				" issuer:" + server.URL + " local:true tokenEndpoint:" + url + "]",
		},
		{server.URL + "x;script-src *", 200, onlySelf, unavailable},
		{"", 200, onlySelf, unavailable},
		{url, 500, onlySelf, unavailable},
	} {
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_ = json.NewEncoder(w).Encode(map[string]string{
				"issuer": server.URL, "authorization_endpoint": url, "token_endpoint": test.tokenEndpoint, "end_session_endpoint": url,
				"jwks_uri": url,
			})
		})
		response := get(t, newFunction(t, server.URL, clientID), "/dev", "/console/")
		_, rest, _ := strings.Cut(response.Body, `id="config">`)
		block, _, _ := strings.Cut(rest, "<")
		var got map[string]any
		assert.OK(t, json.NewDecoder(strings.NewReader(block)).Decode(&got))
		assert.Equal(t, test.configuration, fmt.Sprint(got))
		policy := header(response).Get("Content-Security-Policy")
		if response.StatusCode != http.StatusOK || !strings.Contains(policy, test.policy) {
			t.Errorf("%+v: status %d, policy %s", test, response.StatusCode, policy)
		}
	}
}

func TestInvalidIssuer(t *testing.T) {
	t.Parallel()
	_, err := app.Find(console.Functions(), "console")(&app.Env{Vars: map[string]string{"OIDC_ISSUER": "http://127.0.0.1",
		"OIDC_CLIENT_ID": "x"}})
	if err == nil || !strings.Contains(err.Error(), "OIDC_ISSUER") {
		t.Errorf("error %v", err)
	}
}
