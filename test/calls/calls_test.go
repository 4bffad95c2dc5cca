package calls_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the authorizer does in the table below.
const (
	apiToken = "authorizer GetItem 1r"         // ApiTokens
	pat      = "authorizer BatchGetItem 1r+1r" // PersonalAccessTokens and Users
	seen     = "authorizer UpdateItem 1w"      // seenAt
)

// TestCallsOfEachOperation walks every operation × case. Credentials named below have been seen within the minute but where a line says
// otherwise.
func TestCallsOfEachOperation(t *testing.T) { //nolint:tparallel // the count is of one request at a time
	t.Parallel()
	s := start(t)
	const (
		feedback = "PUT /api/admin/feedback/f"
		types    = "GET /api/admin/feature-types"
		lifetime = "PUT /api/admin/feature-types/release/lifetime"
		fields   = "GET /api/admin/context"
		token    = "POST /api/admin/service-account/4/token"
		usage    = "GET /api/admin/metrics/traffic/2026-11"
		deletion = "DELETE /api/admin/user/tokens/"

		updateFeedback = "update-feedback UpdateItem 1w"
		getUser        = "update-feedback GetItem 1r"
		scanTypes      = "list-feature-types Scan 1r"
		setLifetime    = "update-feature-type-lifetime UpdateItem 1w"
		scanFields     = "list-context-fields Scan 1r"
		counter        = "create-service-account-token GetItem 1r"
		create         = "create-service-account-token TransactWriteItems 4w+2w" // counter and PAT; the account
		createRefused  = "create-service-account-token TransactWriteItems failed"
		query          = "get-traffic-usage Query 1r"
		getToken       = "delete-own-token GetItem 1r"
		remove         = "delete-own-token TransactWriteItems 2w+2w" // PAT; account
	)
	large := `{"lifetimeDays": 1, "x": "` + strings.Repeat("x", 102_400) + `"}`
	for _, tt := range []struct {
		name    string
		request string
		as      string // a name of s.tokens, or a credential
		body    string
		header  string // instead of Content-Type: application/json
		status  int
		want    []string
	}{
		{"an unknown path", "GET /api/admin/nothing", "admin", "", "", 404, nil},
		{"a wrong method", "DELETE /api/admin/feature-types", "admin", "", "", 404, nil},

		{"no credential", types, "none", "", "", 401, nil},
		{"a malformed credential", types, "user:v2_x_y", "", "", 401, nil},
		{"an unknown API token", types, "*:*.v2_" + strings.Repeat("A", 22) + "_" + strings.Repeat("A", 43), "", "", 401, []string{apiToken}},
		{"an API token with a wrong secret", types, "api-token spoilt", "", "", 401, []string{apiToken}},
		{"a PAT of nobody", types, "user:v2_AAAAAH____8AAAAAf____w_" + strings.Repeat("A", 43), "", "", 401, []string{pat}},
		{"a PAT with a wrong secret", types, "viewer spoilt", "", "", 401, []string{pat}},
		{"an expired PAT", types, "expired", "", "", 401, []string{pat}},
		{"a PAT of a disabled user", types, "disabled", "", "", 401, []string{pat}},

		{"4.1 a new record", feedback, "admin", `{}`, "", 200, []string{pat, updateFeedback}},
		{"4.1 an existing record", feedback, "admin", `{"neverShow":true,"given":"2026-11-20T05:39:00Z"}`, "", 200, []string{pat, updateFeedback}},
		{"4.1 the caller's own id", feedback, "editor", `{"userId":2}`, "", 200, []string{pat, updateFeedback}},
		{"4.1 another's record, by an administrator", feedback, "admin", `{"userId":2}`, "", 200, []string{pat, getUser, updateFeedback}},
		{"4.1 another's record, by anybody else", feedback, "editor", `{"userId":1}`, "", 400, []string{pat}},
		{"4.1 nobody's record", feedback, "admin", `{"userId":99}`, "", 400, []string{pat, getUser}},
		{"4.1 no id of a user", feedback, "admin", `{"userId":2147483648}`, "", 400, []string{pat}},
		{"4.1 without a user", feedback, "api-token", `{}`, "", 401, []string{apiToken}},
		{"4.1 unauthenticated", feedback, "none", `{}`, "", 401, nil},
		{"4.1 another content type", feedback, "admin", `{}`, "text/plain", 415, []string{pat}},
		{"4.1 too large", feedback, "admin", large, "", 413, []string{pat}},
		{"4.1 no JSON", feedback, "admin", `{`, "", 400, []string{pat}},
		{"4.1 against the schema", feedback, "admin", `{"neverShow":1}`, "", 400, []string{pat}},
		{"4.1 an id too long", feedback + strings.Repeat("f", 255), "admin", `{}`, "", 400, []string{pat}},

		{"4.2 by a PAT", types, "viewer", "", "", 200, []string{pat, scanTypes}},
		{"4.2 by an API token", types, "api-token", "", "", 200, []string{apiToken, scanTypes}},

		{"4.3 another lifetime", lifetime, "api-token", `{"lifetimeDays":50}`, "", 200, []string{apiToken, setLifetime}},
		{"4.3 the same again", lifetime, "api-token", `{"lifetimeDays":50}`, "", 200, []string{apiToken, setLifetime}},
		{"4.3 none", lifetime, "api-token", `{"lifetimeDays":null}`, "", 200, []string{apiToken, setLifetime}},
		{"4.3 an unknown type", "PUT /api/admin/feature-types/x/lifetime", "api-token", `{"lifetimeDays":1}`, "", 404,
			[]string{apiToken, "update-feature-type-lifetime UpdateItem failed"}},
		{"4.3 an id that is none", "PUT /api/admin/feature-types/%ff/lifetime", "api-token", `{"lifetimeDays":1}`, "", 404, []string{apiToken}},
		{"4.3 unauthenticated", lifetime, "none", `{"lifetimeDays":1}`, "", 401, nil},
		{"4.3 not permitted", lifetime, "editor", `{"lifetimeDays":1}`, "", 403, []string{pat}},
		{"4.3 another content type", lifetime, "api-token", `{"lifetimeDays":1}`, "text/plain", 415, []string{apiToken}},
		{"4.3 too large", lifetime, "api-token", large, "", 413, []string{apiToken}},
		{"4.3 against the schema", lifetime, "api-token", `{"lifetimeDays":-1}`, "", 400, []string{apiToken}},

		{"4.4 by a PAT", fields, "viewer", "", "", 200, []string{pat, scanFields}},
		{"4.4 unauthenticated", fields, "none", "", "", 401, nil},

		{"4.5 a token", token, "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`, "", 201, []string{apiToken, counter, create}},
		{"4.5 the same description", token, "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`, "", 409,
			// The third call looks whether the token with this description is what an interrupted attempt of this very request wrote.
			[]string{apiToken, counter, createRefused, counter}},
		{"4.5 one too many", "POST /api/admin/service-account/5/token", "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`, "", 403,
			[]string{apiToken, counter, createRefused}},
		{"4.5 an unknown account", "POST /api/admin/service-account/99/token", "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`,
			"", 404, []string{apiToken, counter, createRefused}},
		{"4.5 a person", "POST /api/admin/service-account/1/token", "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`,
			"", 404, []string{apiToken, counter, createRefused}},
		{"4.5 no id of an account", "POST /api/admin/service-account/x/token", "api-token", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`,
			"", 404, []string{apiToken}},
		{"4.5 unauthenticated", token, "none", `{}`, "", 401, nil},
		{"4.5 not permitted", token, "editor", `{"description":"b","expiresAt":"2199-01-01T00:00:00Z"}`, "", 403, []string{pat}},
		{"4.5 another content type", token, "api-token", `{}`, "text/plain", 415, []string{apiToken}},
		{"4.5 too large", token, "api-token", large, "", 413, []string{apiToken}},
		{"4.5 against the schema", token, "api-token", `{}`, "", 400, []string{apiToken}},
		{"4.5 in the past", token, "api-token", `{"description":"b","expiresAt":"2000-01-01T00:00:00Z"}`, "", 400, []string{apiToken}},

		{"4.6 a month", usage, "admin", "", "", 200, []string{pat, query}},
		{"4.6 a month with data", "GET /api/admin/metrics/traffic/2025-05", "admin", "", "", 200, []string{pat, query}},
		{"4.6 no month", "GET /api/admin/metrics/traffic/2026-13", "admin", "", "", 400, []string{pat}},
		{"4.6 unauthenticated", usage, "none", "", "", 401, nil},
		{"4.6 not permitted", usage, "viewer", "", "", 403, []string{pat}},

		{"4.7 another's", deletion + "1", "viewer", "", "", 404, []string{pat, getToken}},
		{"4.7 unknown", deletion + "999", "viewer", "", "", 404, []string{pat, getToken}},
		{"4.7 no id", deletion + "0", "viewer", "", "", 404, []string{pat}},
		{"4.7 without a user", deletion + "1", "api-token", "", "", 403, []string{apiToken}},
		{"4.7 unauthenticated", deletion + "1", "none", "", "", 401, nil},
		{"4.7 itself, the first time that it is seen", deletion + "{fresh}", "fresh", "", "", 200, []string{pat, seen, getToken, remove}},
		{"4.7 after that", deletion + "{fresh}", "fresh", "", "", 401, []string{pat}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, got := s.count(t, tt.request, tt.as, tt.body, tt.header)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSeenAtIsWrittenOnceAMinute moves the service's clock.
func TestSeenAtIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	s := start(t)
	const request, scan = "GET /api/admin/context", "list-context-fields Scan 1r"
	for _, step := range []struct {
		name    string
		seconds int
		want    []string
	}{
		{"just seen", 0, []string{pat, scan}},
		{"59 seconds later", 59, []string{pat, scan}},
		{"a minute later", 1, []string{pat, scan}},
		{"more than a minute later", 1, []string{pat, seen, scan}},
		{"at once", 0, []string{pat, scan}},
		{"an hour later", 3600, []string{pat, seen, scan}},
	} {
		s.clock.Add(int64(step.seconds))
		status, got := s.count(t, request, "viewer", "", "")
		if status != http.StatusOK {
			t.Errorf("%s: status %d", step.name, status)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
}
