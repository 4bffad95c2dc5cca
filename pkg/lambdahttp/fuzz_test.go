package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

// Any bytes are answered with a valid proxy response whose errors are the error object.
func FuzzInvoke(f *testing.F) {
	samples, err := filepath.Glob("../../events/*.json")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no sample events: %v", err)
	}
	for _, path := range samples {
		event, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(event)
	}
	for _, seed := range []string{
		"", "null", "[]", "{}", `{"resource":"/%zz"}`, `{"httpMethod":"B AD"}`, `{"body":"%","isBase64Encoded":true}`, `{"body":"panic"}`, `{"body":"error"}`,
		`{"headers":{"x-golambdaproxy-apigw-context":"{}"},"multiValueHeaders":{}}`, `{"pathParameters":{"id":"%ff"},"resource":"/{id}"}`,
		`{"requestContext":{"requestId":"\n","authorizer":{"principalId":7},"path":"////"},"resource":"//\u0000?#"}`, `{"resource":"\\","requestContext":{"domainName":"%"}}`,
	} {
		f.Add([]byte(seed))
	}
	handler := lambdahttp.New(func(w http.ResponseWriter, r *http.Request) error {
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return lambdahttp.BadPathParam("id", id)
		}
		body, err := lambdahttp.Body(r)
		switch {
		case err != nil:
			return err
		case bytes.Equal(body, []byte("panic")):
			panic(string(body))
		case bytes.Equal(body, []byte("error")):
			return errors.New(string(body))
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, []any{id, string(body), lambdahttp.RequestOf(r), r.Method, r.Header})
	}, lambdahttp.Options{Logger: discard(), Now: time.Now, NewID: func() string { return errorID }})
	f.Fuzz(func(t *testing.T, payload []byte) {
		out, err := handler.Invoke(t.Context(), payload)
		if err != nil {
			t.Fatalf("a Lambda error: %v", err)
		}
		answer := proxyResponse(t, out)
		headers := http.Header(answer.MultiValueHeaders)
		for name, want := range map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := headers.Values(name); len(got) != 1 || got[0] != want {
				t.Fatalf("%s is %q", name, got)
			}
		}
		switch answer.StatusCode {
		case http.StatusOK:
			if !json.Valid([]byte(answer.Body)) {
				t.Fatalf("no JSON: %s", answer.Body)
			}
		case http.StatusBadRequest:
			message(t, answer, answer.StatusCode, "ValidationError")
		case http.StatusInternalServerError:
			if text := message(t, answer, answer.StatusCode, "InternalError"); text != apierror.TextInternal {
				t.Fatalf("text %q", text)
			}
		default:
			t.Fatalf("status %d", answer.StatusCode)
		}
	})
}
