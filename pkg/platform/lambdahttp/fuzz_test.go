package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"testing"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// The response to any payload is a valid proxy response with the common headers, and its errors are error objects.
func FuzzInvoke(f *testing.F) {
	event, err := os.ReadFile("../../../events/update-feedback.json")
	assert.OK(f, err)
	f.Add(event)
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
	f.Fuzz(func(t *testing.T, payload []byte) {
		log.Reset()
		response := invoke(t, handler, payload)
		headers := http.Header(response.MultiValueHeaders)
		if len(headers["Content-Type"]) != 1 || headers.Get("Cache-Control") != "no-store" ||
			headers.Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("headers %v", headers)
		}
		switch response.StatusCode {
		case http.StatusOK:
			if !json.Valid([]byte(response.Body)) {
				t.Fatalf("body %s", response.Body)
			}
		case http.StatusBadRequest:
			checkError(t, response, http.StatusBadRequest, "ValidationError")
		default:
			checkError(t, response, http.StatusInternalServerError, "InternalError")
		}
	})
}
