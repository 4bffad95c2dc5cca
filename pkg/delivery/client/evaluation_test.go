package client_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
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
		{"GET", "?properties[country]=NO&country=SE", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"GET", "?properties[country]=&country=NO", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"GET", "?country=NO&x=a;b&y=100%&%zz&=&&z=%ff+", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"GET", "?country=N%4F&context=x", "", `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", "", `{"toggles":[` + b + `]}`},
		{"POST", "", `{"context":null}`, `{"toggles":[` + b + `]}`},
		{"POST", "", `{"context":{"properties":{"country":"NO","x":{}},"userId":7}}`, `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", `{"context":{"country":"NO","properties":null}}`, `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", `{"context":{"properties":{"country":"NO"},"country":"SE"}}`, `{"toggles":[` + a + `,` + b + `]}`},
		{"POST", "", `{"context":{"properties":{"country":["NO"]}}}`, `{"toggles":[` + a + `,` + b + `]}`},
	} {
		got := call(h, test.method, "/api/frontend"+test.query, token, test.body)
		assert.Equal(t, test.want, got.body)
		again := call(h, test.method, "/api/frontend"+test.query, token, test.body, "If-None-Match", got.header.Get("ETag"))
		assert.Equal(t, http.StatusNotModified, again.status)
	}
	for sent, want := range map[string]int{"*": http.StatusNotModified, `"*"`: http.StatusOK} {
		assert.Equal(t, want, call(h, "GET", "/api/frontend", token, "", "If-None-Match", sent).status)
	}
	assert.Equal(t, http.StatusBadRequest, call(h, "GET", "/api/frontend?properties=x", token, "").status)
	for body, want := range map[string]int{
		`{"context":[]}`:                        400,
		`{"context":"x"}`:                       400,
		`{"context":{"properties":[]}}`:         400,
		`{"context":{"properties":"x"}}`:        400,
		`{"context":{"properties":{"a":[{}]}}}`: 400,
		`{"context":{"userId":[["7"]]}}`:        400,
		`[]`:                                    400,
		`{}}`:                                   400,
		`{} {}`:                                 400,
		`{"context":{"currentTime":"now"}}`:     400,
		`{"x":"` + strings.Repeat("x", 100_000) + `"}`: 413,
	} {
		assert.Equal(t, want, call(h, "POST", "/api/frontend", token, body).status)
	}
	assert.Equal(t, http.StatusUnsupportedMediaType,
		call(h, "POST", "/api/frontend", token, "a=b", "Content-Type", "application/x-www-form-urlencoded").status)
}

// served describes the context for which requests are evaluated, by a toggle for each of some values. The values are
// those of fields, without what a request has not sent.
func (f *fixture) served(values map[string]string) (on func(method, target, body string) []string) {
	f.Helper()
	for field, value := range values {
		f.put("shop", field, toggle.Strategy{Constraints: []toggle.Constraint{
			{ContextName: field, Operator: toggle.OperatorIn, Values: []string{value}},
		}})
	}
	f.compile()
	process, token := f.process(), f.token(clienttokentable.Frontend)
	return func(method, target, body string) []string {
		f.Helper()
		response := call(process, method, target, token, body)
		assert.Equal(f, http.StatusOK, response.status)
		names := []string{}
		for field := range values {
			on := `{"name":"` + field + `","enabled":true`
			if strings.HasPrefix(target, "/ofrep") {
				on = `{"key":"` + field + `","reason":"TARGETING_MATCH","value":true`
			}
			if strings.Contains(response.body, on) {
				names = append(names, field)
			}
		}
		slices.Sort(names)
		return names
	}
}

// Lists are joined with commas, whichever way an application sends them, and so are values of other types texts.
func TestValues(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	context := f.served(map[string]string{
		"roles": "admin,ops", "sizes": "1,2.5,true", "userId": "7,8", "plan": "a b;c", "share": "100%", "age": "41", "beta": "true",
	})
	all := []string{"age", "beta", "plan", "roles", "share", "sizes", "userId"}
	for _, query := range []string{
		"?userId=7&userId=8&roles=admin&roles=ops&sizes=1&sizes=2.5&sizes=true&plan=a+b;c&share=100%&age=41&beta=true",
		"?userId=7,8&roles[]=admin&roles[]=ops&sizes=1,2.5,true&plan=a%20b%3Bc&share=100%25&age=41&beta=true",
		"?userId=7%2C8&properties[roles]=admin&properties[roles]=ops&properties[sizes][]=1&properties[sizes][]=2.5,true&" +
			"properties%5Bplan%5D=a%20b;c&properties[share]=100%&properties[age]=41&properties[beta]=true",
	} {
		assert.Equal(t, all, context("GET", "/api/frontend"+query, ""))
	}
	const custom = `"roles":["admin","ops"],"sizes":[1,2.5,true],"plan":"a b;c","share":"100%","age":41,"beta":true`
	const path = "/ofrep/v1/evaluate/flags"
	assert.Equal(t, all, context("POST", "/api/frontend", `{"context":{"userId":[7,8],"properties":{`+custom+`}}}`))
	assert.Equal(t, all, context("POST", "/api/frontend", `{"context":{"userId":["7","8"],`+custom+`}}`))
	assert.Equal(t, all, context("POST", path, `{"context":{"userId":["7","8"],`+custom+`}}`))
	assert.Equal(t, all, context("POST", path, `{"context":{"targetingKey":["7",8],`+custom+`}}`))
	assert.Equal(t, []string{}, context("POST", path, `{"context":{"roles":{"0":"admin,ops"},"age":null}}`))
}

// An empty text is absent: a rollout divides callers by what else they send, and a stickiness field without a value is
// not fulfilled.
func TestEmptyFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	half := map[string]string{"rollout": "50", "stickiness": "default", "groupId": "g"}
	f.put("shop", "half", toggle.Strategy{Parameters: half})
	tenants := map[string]string{"rollout": "100", "stickiness": "tenant", "groupId": "g"}
	f.put("shop", "tenants", toggle.Strategy{Parameters: tenants})
	absent := toggle.Constraint{ContextName: "plan", Operator: toggle.OperatorRegex, Value: "^$"}
	f.put("shop", "plan", toggle.Strategy{Constraints: []toggle.Constraint{absent}})
	f.put("shop", "address", toggle.Strategy{Constraints: []toggle.Constraint{
		{ContextName: "remoteAddress", Operator: toggle.OperatorIn, Values: []string{address}},
	}})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend)
	const path = "/ofrep/v1/evaluate/flags"
	results := func(session string) [][4]bool {
		none := `"userId":"","remoteAddress":"","appName":""`
		var all [][4]bool
		for _, got := range []response{
			call(h, "GET", "/api/frontend?userId=&remoteAddress=&appName=&tenant=&plan=&sessionId="+session, token, ""),
			call(h, "GET", "/api/frontend?properties[tenant]=&properties[plan]=&properties[userId]=&sessionId="+session, token, ""),
			call(h, "POST", "/api/frontend", token,
				`{"context":{`+none+`,"properties":{"tenant":"","plan":""},"sessionId":"`+session+`"}}`),
			call(h, "POST", path, token,
				`{"context":{`+none+`,"tenant":"","plan":[],"targetingKey":"","sessionId":"`+session+`"}}`),
		} {
			assert.Equal(t, http.StatusOK, got.status)
			var result [4]bool
			for i, name := range []string{"half", "tenants", "plan", "address"} {
				result[i] = strings.Contains(got.body, `{"name":"`+name+`"`) ||
					regexp.MustCompile(`{"key":"`+name+`","reason":"[A-Z_]+","value":true`).MatchString(got.body)
			}
			all = append(all, result)
		}
		return all
	}
	on := 0
	for i := range 100 {
		all := results(fmt.Sprint("s", i))
		half := all[0][0]
		if half {
			on++
		}
		want := [4]bool{half, false, false, true}
		assert.Equal(t, [][4]bool{want, want, want, want}, all)
	}
	if on < 30 || on > 70 {
		t.Errorf("a rollout of 50 %% is on for %d of 100 sessions", on)
	}
}

// A caller that sends no session has one, which is the same for each request and another for another user, agent or
// address. So a strategy with the stickiness sessionId is on for all callers at 100 %.
func TestSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "half", toggle.Strategy{
		Parameters: map[string]string{"rollout": "50", "stickiness": "sessionId", "groupId": "g"},
	})
	f.put("shop", "all", toggle.Strategy{
		Parameters: map[string]string{"rollout": "100", "stickiness": "sessionId", "groupId": "g"},
	})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend)
	const path = "/ofrep/v1/evaluate/flags"
	for _, callers := range []func(i int) response{
		func(i int) response { return call(h, "GET", fmt.Sprint("/api/frontend?userId=", i), token, "") },
		func(i int) response { return call(h, "GET", "/api/frontend", token, "", "User-Agent", fmt.Sprint(i)) },
		func(i int) response {
			return call(h, "POST", "/api/frontend", token, fmt.Sprintf(`{"context":{"userId":%d,"sessionId":""}}`, i))
		},
		func(i int) response {
			return call(h, "POST", path, token, fmt.Sprintf(`{"context":{"targetingKey":"%d"}}`, i))
		},
	} {
		on := 0
		for i := range 100 {
			first := callers(i)
			assert.Equal(t, first.body, callers(i).body)
			if !regexp.MustCompile(`{"name":"all"|{"key":"all","reason":"STATIC","value":true`).MatchString(first.body) {
				t.Fatalf("a strategy at 100 %% is off for the caller %d: %s", i, first.body)
			}
			if regexp.MustCompile(`{"name":"half"|{"key":"half","reason":"SPLIT","value":true`).MatchString(first.body) {
				on++
			}
		}
		if on < 30 || on > 70 {
			t.Errorf("a rollout of 50 %% is on for %d of 100 callers", on)
		}
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
	f.put("shop", "no-norwegian", toggle.Strategy{Parameters: nobody, Constraints: inNorway()})
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
		"plain":        `"reason":"STATIC","value":true,"variant":"enabled",`,
		"norway":       `"reason":"TARGETING_MATCH","value":false,"variant":"disabled",`,
		"none":         `"reason":"SPLIT","value":false,"variant":"disabled",`,
		"no-norwegian": `"reason":"TARGETING_MATCH","value":false,"variant":"disabled",`,
		"text":         `"reason":"SPLIT","value":"x","variant":"v",`,
		"number":       `"reason":"SPLIT","value":1.0,"variant":"v",`,
		"object":       `"reason":"SPLIT","value":{"x":1},"variant":"v",`,
		"list":         `"reason":"SPLIT","value":"[1]","variant":"v",`,
		"empty":        `"reason":"SPLIT","value":true,"variant":"v",`,
		"variants":     `"reason":"TARGETING_MATCH","variant":"disabled",`,
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
	for body, want := range map[string]string{
		`{`:                          "PARSE_ERROR",
		`[]`:                         "PARSE_ERROR",
		`"x"`:                        "PARSE_ERROR",
		`{"context":{}} {}`:          "PARSE_ERROR",
		`{"context":[]}`:             "INVALID_CONTEXT",
		`{"context":"x"}`:            "INVALID_CONTEXT",
		`{"context":{"a":[[]]}}`:     "INVALID_CONTEXT",
		`{"context":{"a":["b",{}]}}`: "INVALID_CONTEXT",
	} {
		for _, path := range []string{"/ofrep/v1/evaluate/flags", "/ofrep/v1/evaluate/flags/plain"} {
			got := call(h, "POST", path, token, body)
			assert.Equal(t, http.StatusBadRequest, got.status)
			if !strings.Contains(got.body, `"errorCode":"`+want+`"`) {
				t.Errorf("%s: %s", body, got.body)
			}
		}
	}
	const path, norway, sweden = "/ofrep/v1/evaluate/flags", `{"context":{"country":"NO"}}`, `{"context":{"country":"SE"}}`
	all := call(h, "POST", path, "Bearer "+token, norway)
	assert.Equal(t, 10, strings.Count(all.body, `"key"`))
	tag := all.header.Get("ETag")
	assert.Equal(t, http.StatusNotModified, call(h, "POST", path, token, norway, "If-None-Match", tag).status)
	assert.Equal(t, http.StatusOK, call(h, "POST", path, token, sweden, "If-None-Match", tag).status)
}

// With a list of origins, only their pages can read responses. The requested headers are allowed as they were sent.
func TestOrigins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.processWith(func(c *client.Config) { c.Origins = []string{"https://shop.example", "https://b.example:8443"} })
	const headers = "Authorization, content-type , X-Custom,unleash-sdk"
	for origin, want := range map[string]string{
		"https://shop.example": "https://shop.example", "https://b.example:8443": "https://b.example:8443",
		"https://other.example": "", "https://shop.example, https://b.example:8443": "", "null": "", "": "",
	} {
		got := call(h, "OPTIONS", "/api/frontend", "", "", "Origin", origin, "Access-Control-Request-Headers", headers)
		assert.Equal(t, http.StatusNoContent, got.status)
		assert.Equal(t, want, got.header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, headers, got.header.Get("Access-Control-Allow-Headers"))
		assert.Equal(t, "Origin,Access-Control-Request-Headers", got.header.Get("Vary"))
		failed := call(h, "GET", "/api/frontend", "", "", "Origin", origin)
		assert.Equal(t, want, failed.header.Get("Access-Control-Allow-Origin"))
	}
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
