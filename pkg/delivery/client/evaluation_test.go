package client_test

import (
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
)

func inNorway() []toggle.Constraint {
	return []toggle.Constraint{{ContextName: "country", Operator: toggle.OperatorIn, Values: []string{"NO"}}}
}

func variant(kind, value string) []toggle.Variant {
	v := toggle.Variant{Name: "v", Weight: 1000, WeightType: toggle.WeightVariable, Stickiness: "default"}
	if kind != "" {
		v.Payload = &toggle.Payload{Type: kind, Value: value}
	}
	return []toggle.Variant{v}
}

// The frontend API returns the toggles that are on for the context, in the query or in a body.
func TestFrontend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "b", toggle.Strategy{})
	f.put("shop", "a", toggle.Strategy{Constraints: inNorway(), Variants: variant("json", `{"x":1}`)})
	f.put("billing", "c", toggle.Strategy{})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend, "shop")
	const a = `{"name":"a","enabled":true,"variant":{"name":"v","enabled":true,` +
		`"payload":{"type":"json","value":"{\"x\":1}"},"feature_enabled":true,"featureEnabled":true},"impressionData":false}`
	const b = `{"name":"b","enabled":true,"variant":{"name":"disabled","enabled":false,"feature_enabled":true,` +
		`"featureEnabled":true},"impressionData":false}`
	for _, test := range []struct{ method, query, body, want string }{
		{"GET", "", "", `{"toggles":[` + b + `]}`},
		{"GET", "?country=NO", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"GET", "?properties[country]=NO&userId=7", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"GET", "?properties%5Bcountry%5D=SE", "", `{"toggles":[` + b + `]}`},
		{"GET", "?properties[country]=SE&country=NO", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", "", `{"toggles":[` + b + `]}`},
		{"POST", "", `{"context":{"properties":{"country":"NO"},"userId":7}}`, `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", `{"context":{"country":"NO"}}`, `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", `{"context":{"properties":{"country":"SE"},"country":"NO"}}`, `{"toggles":[` + a + `,` + b + `]}`},
	} {
		got := call(h, test.method, "/api/frontend"+test.query, token, test.body)
		assert.Equal(t, test.want, got.body)
		again := call(h, test.method, "/api/frontend"+test.query, token, test.body, "If-None-Match", got.header.Get("ETag"))
		assert.Equal(t, http.StatusNotModified, again.status)
	}
	for body, want := range map[string]int{
		`{"context":[]}`:                    400,
		`[]`:                                400,
		`{}}`:                               400,
		`{} {}`:                             400,
		`{"context":{"currentTime":"now"}}`: 400,
		`{"x":"` + strings.Repeat("x", 100_000) + `"}`: 413,
	} {
		assert.Equal(t, want, call(h, "POST", "/api/frontend", token, body).status)
	}
	assert.Equal(t, http.StatusUnsupportedMediaType,
		call(h, "POST", "/api/frontend", token, "a=b", "Content-Type", "application/x-www-form-urlencoded").status)
}

// A caller without userId and sessionId gets the same result with each request.
func TestSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	half := map[string]string{"rollout": "50", "stickiness": "default", "groupId": "g"}
	f.put("shop", "a", toggle.Strategy{Parameters: half})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend)
	first := call(h, "GET", "/api/frontend", token, "")
	for range 20 {
		assert.Equal(t, first.body, call(h, "GET", "/api/frontend", token, "").body)
	}
}

// Each toggle has the value, the variant and the reason of OFREP.
func TestOFREP(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "plain", toggle.Strategy{})
	f.put("shop", "norway", toggle.Strategy{Constraints: inNorway()})
	nobody := map[string]string{"rollout": "0", "stickiness": "default", "groupId": "g"}
	f.put("shop", "none", toggle.Strategy{Parameters: nobody})
	f.put("shop", "text", toggle.Strategy{Variants: variant("string", "x")})
	f.put("shop", "number", toggle.Strategy{Variants: variant("number", "1.0")})
	f.put("shop", "object", toggle.Strategy{Variants: variant("json", `{"x":1}`)})
	f.put("shop", "list", toggle.Strategy{Variants: variant("json", `[1]`)})
	f.put("shop", "empty", toggle.Strategy{Variants: variant("", "")})
	f.put("shop", "variants", toggle.Strategy{Constraints: inNorway(), Variants: variant("string", "x")})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend)
	const metadata = `"metadata":{"impressionData":false,"project":"shop","stale":false,"type":"release"}}`
	for key, want := range map[string]string{
		"plain":    `"reason":"STATIC","value":true,"variant":"enabled",`,
		"norway":   `"reason":"TARGETING_MATCH","value":false,"variant":"disabled",`,
		"none":     `"reason":"TARGETING_MATCH","value":false,"variant":"disabled",`,
		"text":     `"reason":"SPLIT","value":"x","variant":"v",`,
		"number":   `"reason":"SPLIT","value":1.0,"variant":"v",`,
		"object":   `"reason":"SPLIT","value":{"x":1},"variant":"v",`,
		"list":     `"reason":"SPLIT","value":"[1]","variant":"v",`,
		"empty":    `"reason":"SPLIT","value":true,"variant":"v",`,
		"variants": `"reason":"TARGETING_MATCH","variant":"disabled",`,
	} {
		got := call(h, "POST", "/ofrep/v1/evaluate/flags/"+key, "", `{"context":{"targetingKey":"7"}}`, "X-API-Key", token)
		assert.Equal(t, `{"key":"`+key+`",`+want+metadata, got.body)
	}
	missing := call(h, "POST", "/ofrep/v1/evaluate/flags/missing", token, "")
	assert.Equal(t, http.StatusNotFound, missing.status)
	for _, text := range []string{
		`"key":"missing"`, `"errorCode":"FLAG_NOT_FOUND"`, `"errorDetails":"There is no toggle`, `"name":"NotFoundError"`,
	} {
		if !strings.Contains(missing.body, text) {
			t.Errorf("%s lacks %s", missing.body, text)
		}
	}
	const path, norway, sweden = "/ofrep/v1/evaluate/flags", `{"context":{"country":"NO"}}`, `{"context":{"country":"SE"}}`
	all := call(h, "POST", path, "Bearer "+token, norway)
	assert.Equal(t, 9, strings.Count(all.body, `"key"`))
	tag := all.header.Get("ETag")
	assert.Equal(t, http.StatusNotModified, call(h, "POST", path, token, norway, "If-None-Match", tag).status)
	assert.Equal(t, http.StatusOK, call(h, "POST", path, token, sweden, "If-None-Match", tag).status)
}

// Pages of other origins can read every response, errors included, and send the headers that they ask for.
func TestCORS(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.process()
	for _, path := range []string{"/api/frontend", "/api/frontend/client/metrics", "/ofrep/v1/evaluate/flags"} {
		got := call(h, "OPTIONS", path, "", "", "Origin", "https://shop.example",
			"Access-Control-Request-Headers", "authorization,x")
		assert.Equal(t, http.StatusNoContent, got.status)
		assert.Equal(t, "authorization,x", got.header.Get("Access-Control-Allow-Headers"))
		failed := call(h, "POST", path, "", "")
		assert.Equal(t, http.StatusUnauthorized, failed.status)
		assert.Equal(t, "*", failed.header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "ETag, Retry-After", failed.header.Get("Access-Control-Expose-Headers"))
	}
	assert.Equal(t, "", call(h, "GET", "/api/client/features", "", "").header.Get("Access-Control-Allow-Origin"))
}
