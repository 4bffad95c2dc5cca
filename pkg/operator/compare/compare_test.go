package compare_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/compare"
	"toggleadmin/test/helper/assert"
)

func now() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

// document returns toggles in the form of the client API. strategies are by the name of the toggle.
func document(t *testing.T, strategies map[string]string) (d evaluation.Document) {
	t.Helper()
	var features []string
	for name, s := range strategies {
		features = append(features, `{"name":"`+name+`","enabled":true,"strategies":[`+s+`]}`)
	}
	assert.OK(t, json.Unmarshal([]byte(`{"features":[`+strings.Join(features, ",")+`],"segments":[
		{"id":1,"constraints":[{"contextName":"plan","operator":"IN","values":["gold"]}]}]}`), &d))
	return d
}

func constrained(constraints string) string {
	return `{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":"g"},"constraints":[` +
		constraints + `]}`
}

// Each pair differs in one detail, which the contexts that are made from the strategies must meet.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const variants = `{"name":"default","variants":[{"name":"a","weight":500,"stickiness":"userId"},` +
		`{"name":"b","weight":500,"stickiness":"userId","payload":{"type":"string","value":"1"}}]}`
	for name, test := range map[string]struct{ there, here string }{
		"a value of a list": {
			constrained(`{"contextName":"country","operator":"IN","values":["NO","SE"]}`),
			constrained(`{"contextName":"country","operator":"IN","values":["NO"]}`),
		},
		"letter case": {
			constrained(`{"contextName":"tenant","operator":"STR_STARTS_WITH","values":["acme"],"caseInsensitive":true}`),
			constrained(`{"contextName":"tenant","operator":"STR_STARTS_WITH","values":["acme"]}`),
		},
		"the limit of a number": {
			constrained(`{"contextName":"age","operator":"NUM_GTE","value":"18"}`),
			constrained(`{"contextName":"age","operator":"NUM_GT","value":"18"}`),
		},
		"a time": {
			constrained(`{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-12-24T08:00:00Z"}`),
			constrained(`{"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-12-24T08:00:01Z"}`),
		},
		"a version": {
			constrained(`{"contextName":"version","operator":"SEMVER_LT","value":"2.0.0"}`),
			constrained(`{"contextName":"version","operator":"SEMVER_LTE","value":"2.0.0"}`),
		},
		"an expression": {
			constrained(`{"contextName":"tenant","operator":"REGEX","value":"^(a|b)[0-9]{2}$"}`),
			constrained(`{"contextName":"tenant","operator":"IN","values":["a"]}`),
		},
		"the last of five constraints": {
			constrained(`{"contextName":"a","operator":"IN","values":["1"]},{"contextName":"b","operator":"IN","values":["1"]},
				{"contextName":"c","operator":"IN","values":["1"]},{"contextName":"d","operator":"IN","values":["1"]},
				{"contextName":"e","operator":"IN","values":["1"]}`),
			constrained(`{"contextName":"a","operator":"IN","values":["1"]},{"contextName":"b","operator":"IN","values":["1"]},
				{"contextName":"c","operator":"IN","values":["1"]},{"contextName":"d","operator":"IN","values":["1"]}`),
		},
		"a segment": {`{"name":"default","segments":[1]}`, `{"name":"default"}`},
		"the group of a rollout": {
			`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":"g"}}`,
			`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":" g"}}`,
		},
		"the users of a list": {
			`{"name":"userWithId","parameters":{"userIds":"7,8"}}`, `{"name":"userWithId","parameters":{"userIds":"7"}}`,
		},
		"a payload": {variants, strings.Replace(variants, `"value":"1"`, `"value":"2"`, 1)},
		"the stickiness": {
			`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":"g"}}`,
			`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"sessionId","groupId":"g"}}`,
		},
		"a host":          {`{"name":"applicationHostname","parameters":{"hostNames":"web-1"}}`, `{"name":"userWithId"}`},
		"a missing value": {`{"name":"default"}`, constrained(`{"contextName":"country","operator":"NOT_IN","values":["NO"]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			others := map[string]string{"f": test.there, "other": variants, "random": `{"name":"flexibleRollout",` +
				`"parameters":{"rollout":"50","stickiness":"random","groupId":"g"}}`}
			there := document(t, others)
			others["f"] = test.here
			here := document(t, others)
			contexts := compare.Contexts(200, now(), there, here)
			assert.Equal(t, contexts, compare.Contexts(200, now(), there, here)) // the same toggles have the same contexts
			r := compare.Documents(there, here, contexts, now())
			if len(r.Differences) != 1 || r.Differences[0].Toggle != "f" || r.Toggles != 3 || r.Contexts != 200 {
				t.Errorf("%+v", r)
			}
			assert.Equal(t, 0, len(compare.Documents(there, there, contexts, now()).Differences))
		})
	}
}

// A toggle that one side does not have differs only where it is on.
func TestMissingToggle(t *testing.T) {
	t.Parallel()
	there := document(t, map[string]string{"on": `{"name":"default"}`,
		"off": constrained(`{"contextName":"userId","operator":"IN","values":[]}`)})
	r := compare.Documents(there, document(t, nil), compare.Contexts(20, now(), there), now())
	assert.Equal(t, 1, len(r.Differences))
	d := r.Differences[0]
	assert.Equal(t, []any{"on", 20, true, false}, []any{d.Toggle, d.Contexts, d.There.Enabled, d.Here.Explanation.Known})
}

func TestReadContexts(t *testing.T) {
	t.Parallel()
	got, err := compare.ReadContexts("f", strings.NewReader("{\"userId\":\"7\",\"properties\":{\"plan\":\"gold\"}}\n\n{}\n"))
	assert.OK(t, err)
	assert.Equal(t, []compare.Fields{{"userId": "7", "plan": "gold"}, {}}, got)
	for text, want := range map[string]string{
		"{}\n[]":                 `f:2: not a JSON object such as {"userId":"7"}`,
		`{"userId":7}`:           `f:1: the value of "userId" is no string`,
		`{"properties":{"a":1}}`: `f:1: the value of "a" is no string`,
		"":                       "f has no context: write a JSON object in each line",
	} {
		_, err := compare.ReadContexts("f", strings.NewReader(text))
		assert.Equal(t, want, err.Error())
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	var status int
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/base/api/client/features" || r.Header.Get("Authorization") != "secret" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	download := func(s int, text string) string {
		status, body = s, text
		d, err := compare.Download(t.Context(), server.Client(), server.URL+"/base", "secret")
		if err != nil {
			return strings.ReplaceAll(err.Error(), strings.TrimPrefix(server.URL, "http://"), "HOST")
		}
		return d.Features[0].Name
	}
	assert.Equal(t, "f", download(200, `{"version":2,"features":[{"name":"f"}],"query":{}}`))
	body = `{"features":[{"name":"f","strategies":[{"constraints":[{"operator":"IN","values":[" 4 ",""]}]},` +
		`{"name":"gradualRolloutUserId","parameters":{"percentage":"40"}}]}]}`
	d, err := compare.Download(t.Context(), server.Client(), server.URL+"/base", "secret")
	assert.OK(t, err)
	assert.Equal(t, []string{"4"}, d.Features[0].Strategies[0].Constraints[0].Values)
	assert.Equal(t, map[string]string{"groupId": "", "percentage": "40"}, d.Features[0].Strategies[1].Parameters)
	assert.Equal(t, "HOST refuses the token (status 401): it must be one of a backend application", download(401, ""))
	assert.Equal(t, "HOST responds with 502 Bad Gateway to GET /base/api/client/features", download(502, ""))
	assert.Equal(t, "HOST does not respond as Unleash does to GET /base/api/client/features", download(200, "<html>"))
	assert.Equal(t, "HOST does not respond as Unleash does to GET /base/api/client/features", download(200, "{}"))
}
