package lambdahttp_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"testing"

	"toggleadmin/pkg/platform/lambdahttp"
)

// The response to any payload is a valid proxy response with the common headers, and its errors are error objects.
func FuzzInvoke(f *testing.F) {
	f.Add(event(""))
	for _, seed := range []string{
		"", "null", "[]", `{"httpMethod":"B AD"}`, `{"body":"%","isBase64Encoded":true}`, `{"body":"panic"}`,
		`{"headers":{"x-golambdaproxy-apigw-context":"{}"},"multiValueHeaders":{}}`, `{"pathParameters":{"id":"%ff"}}`,
		`{"requestContext":{"requestId":"\n","authorizer":{"principalId":7},"path":"//\u0000?#%","domainName":"%"}}`,
	} {
		f.Add([]byte(seed))
	}
	handler, log := function(func(w http.ResponseWriter, r *http.Request) error {
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return lambdahttp.BadPathParam("id", id)
		}
		body, err := io.ReadAll(r.Body)
		switch {
		case bytes.Equal(body, []byte("panic")):
			panic("panic")
		case err != nil:
			return errors.New("unreadable")
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, []any{id, string(body), r.URL.String(), r.Method, r.Header})
	})
	valid := regexp.MustCompile(`(?s)^(200 \[.*\]|400 {"id":"E","name":"ValidationError",.+}|` +
		`500 {"id":"E","name":"InternalError",.+})` +
		`( map\[Content-Type:\[application/json\]( X-Request-Id:\[.*\])?\])$`)
	f.Fuzz(func(t *testing.T, payload []byte) {
		log.Reset()
		if response := invoke(t, handler, payload); !valid.MatchString(response) {
			t.Fatal(response)
		}
	})
}
