package lambdahttp_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// A handler receives the request that the client sent to the function URL, and the client the handler's response. What
// is not UTF-8 is encoded in base64.
func TestFunctionURL(t *testing.T) {
	t.Parallel()
	handler := lambdahttp.FunctionURL(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Add("Vary", "A")
		w.Header().Add("Vary", "B")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprint(w, r.Method, " ", r.URL.Path, " ", r.URL.RawQuery, " ", r.Header.Get("X-A"), " ", r.RemoteAddr,
			" ", r.Host, " ", string(body), " ", err)
	}))
	const headers = `"headers":{"x-a":"1"},"rawQueryString":"a=%C3&a=2",`
	const context = `"requestContext":{"domainName":"d","http":{"method":"%s","sourceIp":"192.0.2.7"}}`
	const begin, end = `{"statusCode":202,"headers":{"Content-Type":"text/plain","Vary":"A,B"},"multiValueHeaders":null,"body":"`,
		`,"cookies":[]}`
	for event, want := range map[string]string{
		`{"rawPath":"/a%20b",` + headers + fmt.Sprintf(context, "POST") + `,"body":"x"}`: begin +
			`POST /a b a=%C3&a=2 1 192.0.2.7 d x <nil>"` + end,
		`{"rawPath":"//a",` + fmt.Sprintf(context, "PATCH") + `,"body":"eA==","isBase64Encoded":true}`: begin +
			`PATCH //a   192.0.2.7 d x <nil>"` + end,
		`{"rawPath":"/",` + fmt.Sprintf(context, "PUT") + `,"body":"/w==","isBase64Encoded":true}`: `{"statusCode":202,` +
			`"headers":{"Content-Type":"text/plain","Vary":"A,B"},"multiValueHeaders":null,` +
			`"body":"UFVUIC8gICAxOTIuMC4yLjcgZCD/IDxuaWw+","isBase64Encoded":true` + end,
		`{"rawPath":"/",` + fmt.Sprintf(context, "HEAD") + `}`: begin + `"` + end,
	} {
		got, err := handler.Invoke(t.Context(), []byte(event))
		assert.OK(t, err)
		assert.Equal(t, want, string(got))
	}
	bad, err := handler.Invoke(t.Context(), []byte(`{"rawPath":"/%zz","requestContext":{"http":{"method":"GET"}}}`))
	assert.OK(t, err)
	assert.Equal(t, true, len(bad) > 0 && string(bad[:17]) == `{"statusCode":400`)
	_, err = handler.Invoke(t.Context(), []byte(`[]`))
	assert.Equal(t, true, err != nil)
}
