package featuretype_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// serve returns the status and the body of a response, or the message of an error.
func serve(handler lambdahttp.HandlerFunc, r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	if err := handler(w, r); err != nil {
		e := apierror.From(err)
		return e.Kind.Status(), e.Message
	}
	return w.Code, w.Body.String()
}

func TestList(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	request := httptest.NewRequest(http.MethodGet, "/api/admin/feature-types", nil)
	if status, body := serve(featuretype.List(store), request); status != 200 || body != `{"version":1,"types":[]}` {
		t.Errorf("without types: %d %s", status, body)
	}
	create(t, db, featuretype.FeatureType{ID: "a", Name: "A", Description: "d", LifetimeDays: new(int64(7))},
		featuretype.FeatureType{ID: "b", Position: 1})
	const want = `{"version":1,"types":[{"id":"a","name":"A","description":"d","lifetimeDays":7},{"id":"b","name":"",` +
		`"description":"","lifetimeDays":null}]}`
	if status, body := serve(featuretype.List(store), request); status != 200 || body != want {
		t.Errorf("%d %s, want %s", status, body, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, _ := serve(featuretype.List(store), request.WithContext(ctx)); status != 503 {
		t.Errorf("without DynamoDB: %d", status)
	}
}

func TestUpdateLifetime(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	create(t, db, featuretype.FeatureType{ID: "release", Name: "Release", Description: "d"})
	handler := featuretype.UpdateLifetime(store)
	updated := func(lifetime string) string {
		return `{"id":"release","name":"Release","description":"d","lifetimeDays":` + lifetime + `}`
	}
	const property = "The `/body/lifetimeDays` property "
	for _, tt := range []struct {
		name, id, body string
		status         int
		want           string
	}{
		{"1 day", "release", `{"lifetimeDays":1}`, 200, updated("1")},
		{"the maximum", "release", `{"lifetimeDays":2147483647}`, 200, updated("2147483647")},
		{"0 is null", "release", `{"lifetimeDays":0}`, 200, updated("null")},
		{"null", "release", `{"lifetimeDays":null}`, 200, updated("null")},
		{"the id in upper case", "RELEASE", `{"lifetimeDays":1}`, 200, updated("1")},
		{"negative", "release", `{"lifetimeDays":-1}`, 400, property + "must be at least 0; you sent -1."},
		{"above the maximum", "release", `{"lifetimeDays":2147483648}`, 400,
			property + "must be at most 2147483647; you sent 2147483648."},
		{"a fraction", "release", `{"lifetimeDays":1.5}`, 400, property + "must be an integer or null; you sent 1.5."},
		{"missing", "release", `{}`, 400, property + "is required; you did not send it."},
		{"an unknown id", `x"y`, `{"lifetimeDays":1}`, 404, `There is no feature type with the id "x\"y".`},
		{"an unknown id and an invalid body", "x", `{}`, 400, property + "is required; you did not send it."},
		{"an invalid id", "", `{"lifetimeDays":1}`, 404, `There is no feature type with the id "%FF".`},
	} {
		r := httptest.NewRequest(http.MethodPut, "/api/admin/feature-types/id/lifetime", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/json")
		r.SetPathValue("id", tt.id)
		r = r.WithContext(lambdahttp.WithGateway(t.Context(),
			lambdahttp.Gateway{PathParameters: map[string]string{"id": "%FF"}}))
		if status, got := serve(handler, r); status != tt.status || got != tt.want {
			t.Errorf("%s: %d %s", tt.name, status, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/", strings.NewReader(`{"lifetimeDays":1}`))
	if status, _ := serve(handler, r); status != 415 {
		t.Errorf("without a content type: %d", status)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetPathValue("id", "release")
	if status, _ := serve(handler, r); status != 503 {
		t.Errorf("without DynamoDB: %d", status)
	}
}
