package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// A header has one value, as the client sent it, in both kinds of events: a list is not divided.
func TestHeaders(t *testing.T) {
	t.Parallel()
	const list, date = `"a" , W/"b,c"`, "Sun, 22 Nov 2026 10:00:00 GMT"
	sent := map[string]string{
		"access-control-request-headers": "authorization,unleash-appname,unleash-sdk",
		"accept-encoding":                "gzip, br;q=0.5",
		"cache-control":                  "no-cache, max-age=0",
		"content-type":                   "text/plain; a=\"b,c\"",
		"forwarded":                      "for=192.0.2.7, for=192.0.2.8",
		"if-match":                       list,
		"if-none-match":                  list,
		"origin":                         "https://a.example",
		"unleash-sdk":                    "my-sdk:1.0, beta",
		"user-agent":                     "Mozilla/5.0 (KHTML, like Gecko)",
		"x-forwarded-for":                "192.0.2.7, 192.0.2.8",
		"x-since":                        date,
	}
	want, several := http.Header{"Cookie": {"a=1", "b=2,3"}}, http.Header{}
	for name, value := range sent {
		want.Set(name, value)
		several[name] = []string{value}
	}
	several["cookie"] = want["Cookie"]
	var got http.Header
	url := lambdahttp.FunctionURL(func(w http.ResponseWriter, r *http.Request) error {
		got = r.Header
		w.WriteHeader(http.StatusNoContent)
		return nil
	}, lambdahttp.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	invoke := func(handler lambda.Handler, event any) {
		t.Helper()
		payload, err := json.Marshal(event)
		assert.OK(t, err)
		got = nil
		_, err = handler.Invoke(t.Context(), payload)
		assert.OK(t, err)
		assert.Equal(t, want, got)
	}
	invoke(url, map[string]any{"rawPath": "/", "headers": sent, "cookies": want["Cookie"]})
	api, _ := function(func(_ http.ResponseWriter, r *http.Request) error { got = r.Header; return nil })
	invoke(api, map[string]any{"multiValueHeaders": several})
	delete(want, "Cookie")
	invoke(api, map[string]any{"headers": sent})
}

// A handler receives the request that the client sent to the function URL, and the client the handler's response. What
// is not UTF-8 is encoded in base64. An error keeps the headers that say who can read it.
func TestFunctionURL(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handler := lambdahttp.FunctionURL(func(w http.ResponseWriter, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Add("Vary", "A")
		w.Header().Add("Vary", "B")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprint(w, r.Method, " ", r.URL.Path, " ", r.URL.RawQuery, " ", r.Header.Get("X-A"), " ", r.RemoteAddr,
			" ", r.Host, " ", string(body), " ", err)
		switch r.URL.Path {
		case "/refused":
			return apierror.New(apierror.NotFound, "m")
		case "/failed":
			return errors.New("broken")
		case "/panics":
			panic("p")
		}
		return nil
	}, lambdahttp.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now, NewID: func() string { return "E" },
	})
	const headers = `"headers":{"x-a":"1"},"rawQueryString":"a=%C3&a=2",`
	const context = `"requestContext":{"domainName":"d","http":{"method":"%s","sourceIp":"192.0.2.7"}}`
	const allowed, always = `"headers":{"Access-Control-Allow-Origin":"*","Cache-Control":"no-store",`,
		`"X-Content-Type-Options":"nosniff"},"multiValueHeaders":null,"body":"`
	const begin, end = `{"statusCode":202,` + allowed + `"Content-Type":"text/plain","Vary":"A,B",` + always, `,"cookies":[]}`
	const failed = `{\"id\":\"E\",\"name\":\"InternalError\",\"message\":\"Something went wrong on our side. Please try again.\"}"`
	for event, want := range map[string]string{
		`{"rawPath":"/a%20b",` + headers + fmt.Sprintf(context, "POST") + `,"body":"x"}`: begin +
			`POST /a b a=%C3&a=2 1 192.0.2.7 d x <nil>"` + end,
		`{"rawPath":"//a",` + fmt.Sprintf(context, "PATCH") + `,"body":"eA==","isBase64Encoded":true}`: begin +
			`PATCH //a   192.0.2.7 d x <nil>"` + end,
		`{"rawPath":"/",` + fmt.Sprintf(context, "PUT") + `,"body":"/w==","isBase64Encoded":true}`: begin +
			`UFVUIC8gICAxOTIuMC4yLjcgZCD/IDxuaWw+","isBase64Encoded":true` + end,
		`{"rawPath":"/",` + fmt.Sprintf(context, "HEAD") + `}`: begin + `"` + end,
		`{"rawPath":"/refused",` + fmt.Sprintf(context, "GET") + `}`: `{"statusCode":404,` + allowed +
			`"Content-Type":"application/json","Vary":"A,B",` + always +
			`{\"id\":\"E\",\"name\":\"NotFoundError\",\"message\":\"m\"}"` + end,
		`{"rawPath":"/failed",` + fmt.Sprintf(context, "GET") + `}`: `{"statusCode":500,` + allowed +
			`"Content-Type":"application/json","Vary":"A,B",` + always + failed + end,
		`{"rawPath":"/%zz",` + fmt.Sprintf(context, "GET") + `}`: `{"statusCode":400,"headers":{"Cache-Control":"no-store",` +
			`"Content-Type":"application/json",` + always +
			`{\"id\":\"E\",\"name\":\"ValidationError\",\"message\":\"The path has an invalid escape.\"}"` + end,
		`[]`: `{"statusCode":500,"headers":{"Cache-Control":"no-store","Content-Type":"application/json",` + always + failed +
			end,
	} {
		got, err := handler.Invoke(t.Context(), []byte(event))
		assert.OK(t, err)
		assert.Equal(t, want, string(got))
	}
	log.Reset()
	for _, path := range []string{"/", "/refused", "/panics"} {
		_, err := handler.Invoke(t.Context(), []byte(`{"rawPath":"`+path+`",`+fmt.Sprintf(context, "GET")+`}`))
		assert.OK(t, err)
	}
	assert.Equal(t, 1, strings.Count(log.String(), "\n")) // neither what succeeds nor what is refused
	for _, text := range []string{`"level":"ERROR"`, `"path":"/panics"`, `"errorId":"E"`, `"cause":"the handler panicked: p`} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("%s lacks %s", &log, text)
		}
	}
}
