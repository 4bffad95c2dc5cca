package e2e_test

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

// service is a local service whose calls are counted. It delivers no events.
type service struct {
	local.Running
	meter  meter
	tables dynamo.Tables
	tokens map[string]string // by name
	clock  atomic.Int64      // Unix seconds
}

// start starts a service. All seeded tokens have been used within the minute. The token of "new" has never been used.
func start(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.clock.Store(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).Unix())
	s.run(t, local.Config{
		APIOptions: s.meter.options, Now: func() time.Time { return time.Unix(s.clock.Load(), 0) }, RequestsOnly: true,
	})
	for name := range s.tokens {
		s.calls(t, "GET /api/admin/context", name, "")
	}
	s.tokens["new"] = s.createToken(t, 4, time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC))
	return s
}

// run runs the service with a configuration.
func (s *service) run(t *testing.T, c local.Config) {
	t.Helper()
	s.Running = localtest.Start(t, c)
	s.tables = s.Tables
	s.tokens = map[string]string{"api-token": s.APIToken}
	for _, u := range s.Users {
		s.tokens[u.Name] = u.PAT
	}
}

// createToken creates a token of a service account. Its calls are not counted.
func (s *service) createToken(t *testing.T, account int64, expires time.Time) string {
	t.Helper()
	client := s.client(t)
	_, token, err := pat.NewStore(client, s.tables, eventlog.Discard(client, time.Now), rand.Reader).Create(t.Context(),
		pat.PAT{UserID: account, Description: "usage", ExpiresAt: expires},
		pat.Owner{Kind: user.ServiceAccount, Limit: pat.MostPerOwner})
	assert.OK(t, err)
	return token.Reveal()
}

// calls sends a request and returns its status and the calls that it caused.
func (s *service) calls(t *testing.T, request, as, body string) (status int, calls string) {
	t.Helper()
	s.meter.take()
	status, _ = s.send(t, request, as, body)
	var all []string
	for _, c := range s.meter.take() {
		if c.Attempts != 1 {
			t.Errorf("%s took %d attempts", c, c.Attempts)
		}
		all = append(all, c.String())
	}
	return status, summarize(all)
}

// summarize joins calls. Equal ones that follow one another are counted. Reads of a function
// that follow one another are sorted, because some are concurrent.
func summarize(calls []string) string {
	for start := 0; start < len(calls); start++ {
		end := start
		for end < len(calls) && isRead(calls[end]) {
			end++
		}
		slices.Sort(calls[start:end])
		start = end
	}
	var parts []string
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n] == calls[0] {
			n++
		}
		parts = append(parts, calls[0])
		if n > 1 {
			parts[len(parts)-1] = fmt.Sprint(n, " ", calls[0])
		}
		calls = calls[n:]
	}
	return strings.Join(parts, ", ")
}

func isRead(call string) bool {
	function, api, _ := strings.Cut(call, " ")
	api, _, _ = strings.Cut(api, " ")
	return slices.Contains([]string{"GetItem", "Query", "Scan"}, api) || api == "BatchGetItem" && function != "authorizer"
}

func (s *service) send(t *testing.T, request, as, body string) (status int, response []byte) {
	t.Helper()
	return s.sendIf(t, "", request, as, body)
}

// sendIf is send with an If-Match, unless it is empty.
func (s *service) sendIf(t *testing.T, match, request, as, body string) (status int, response []byte) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	assert.OK(t, err)
	r.Header.Set("Content-Type", "application/json")
	if token := s.tokens[as]; token != "" {
		r.Header.Set("Authorization", token)
	}
	if match != "" {
		r.Header.Set("If-Match", match)
	}
	got, err := http.DefaultClient.Do(r)
	assert.OK(t, err)
	defer got.Body.Close()
	response, err = io.ReadAll(got.Body)
	assert.OK(t, err)
	return got.StatusCode, response
}

// The calls of the authorizer.
const (
	readPAT = "authorizer BatchGetItem 1r+1r+1r" // token, user and directory
	seen    = "authorizer UpdateItem 1w"         // seenAt
)

func TestCallsOfEachOperation(t *testing.T) { //nolint:tparallel // one request at a time is counted
	t.Parallel()
	s := start(t)
	s.putProject(t)
	clientToken, _ := s.createClientToken(t)
	own, _ := s.createClientToken(t, "p")
	client := "api-tokens/" + clientToken.Listed()
	const (
		lifetime = "feature-types/release/lifetime"
		switches = "projects/p/bulk_features/environments/production"
		switchOf = "projects/p/features/h/environments/production"
		newToken = `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`
		newTrust = `{"description":"a","issuer":"https://ci.example.com","audience":"http://127.0.0.1","claims":{"sub":"a"}}`
	)
	for _, test := range []struct {
		request  string
		as       string
		body     string
		status   int
		function string // none: only the authorizer's
		calls    string // of the authorizer, and of the function
	}{
		{"GET nothing", "admin", "", 404, "none", ""},
		{"GET context", "nobody", "", 401, "none", ""},
		{"PUT " + lifetime, "editor", `{"lifetimeDays":1}`, 403, "none", readPAT},
		{"PUT " + lifetime, "admin", "{}", 400, "none", readPAT},
		{"PUT feedback/f", "admin", "{}", 200, "update-feedback", readPAT + ", UpdateItem 1w"},
		// for another user
		{"PUT feedback/f", "admin", `{"userId":2}`, 200, "update-feedback", readPAT + ", GetItem 1r, UpdateItem 1w"},
		{"GET feature-types", "api-token", "", 200, "get-all-feature-types", "authorizer GetItem 1r, Scan 1r"},
		{
			request:  "PUT " + lifetime,
			as:       "admin",
			body:     `{"lifetimeDays":50}`,
			status:   200,
			function: "update-feature-type-lifetime",
			calls:    readPAT + ", Scan 1r, TransactWriteItems 2w+3w",
		},
		// the same
		{
			request:  "PUT " + lifetime,
			as:       "admin",
			body:     `{"lifetimeDays":50}`,
			status:   200,
			function: "update-feature-type-lifetime",
			calls:    readPAT + ", Scan 1r, TransactWriteItems 2w",
		},

		{"GET context", "viewer", "", 200, "get-context-fields", readPAT + ", Query 1r, Scan 1r"},
		{"GET context/userId", "viewer", "", 200, "get-context-field", readPAT + ", BatchGetItem 2r, Query 1r"},
		{
			request:  "POST context",
			as:       "editor",
			body:     `{"name":"a","sortOrder":1}`,
			status:   201,
			function: "create-context-field",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 6w+5w",
		},
		{"POST context", "editor", `{"name":"a"}`, 409, "create-context-field", readPAT + ", GetItem 1r, Scan 1r"},
		{
			request:  "PUT context/a",
			as:       "editor",
			body:     `{"sortOrder":2}`,
			status:   200,
			function: "update-context-field",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 4w+3w, Query 1r",
		},
		// the same
		{"PUT context/a", "editor", `{"sortOrder":2}`, 200, "update-context-field", readPAT + ", GetItem 1r, Query 1r, Scan 1r"},
		{
			request:  "PUT context/a",
			as:       "editor",
			body:     "{}",
			status:   200,
			function: "update-context-field",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 4w+3w, Query 1r",
		},
		{
			request:  "DELETE context/a",
			as:       "editor",
			status:   200,
			function: "delete-context-field",
			calls:    readPAT + ", BatchGetItem 2r, TransactWriteItems 6w+5w",
		},
		// it is used
		{"DELETE context/userId", "editor", "", 409, "delete-context-field", readPAT + ", BatchGetItem 2r, Query 1r, 5 Scan 1r"},

		{
			request:  "POST constraints/validate",
			as:       "viewer",
			body:     `{"contextName":"userId","operator":"IN","values":["7"]}`,
			status:   204,
			function: "validate-constraint",
			calls:    readPAT + ", BatchGetItem 1r",
		},
		{"GET segments", "viewer", "", 200, "get-segments", readPAT + ", Query 1r, Scan 1r"},
		{
			request:  "POST segments",
			as:       "editor",
			body:     `{"name":"a","constraints":[{"contextName":"plan","operator":"IN","values":["a"]}]}`,
			status:   400,
			function: "create-segment",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, Scan 1r",
		},
		{
			request:  "POST segments",
			as:       "editor",
			body:     `{"name":"a","constraints":[]}`,
			status:   201,
			function: "create-segment",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 6w+3w",
		},
		{"GET segments/1", "viewer", "", 200, "get-segment", readPAT + ", BatchGetItem 1r, BatchGetItem 2r, Query 1r"},
		{"GET segments/1/strategies", "viewer", "", 200, "get-segment-strategies", readPAT + ", BatchGetItem 2r, Query 1r, 4 Scan 1r"},
		{
			request:  "PUT segments/1",
			as:       "editor",
			body:     `{"name":"b"}`,
			status:   204,
			function: "update-segment",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 4w+3w",
		},
		{"DELETE segments/1", "editor", "", 204, "remove-segment", readPAT + ", BatchGetItem 2r, TransactWriteItems 4w+3w"},
		{"GET api-tokens", "editor", "", 200, "get-all-api-tokens", readPAT + ", Query 1r, Scan 1r"},
		{
			request:  "POST api-tokens",
			as:       "admin",
			body:     `{"tokenName":"a","type":"client","environment":"none"}`,
			status:   400,
			function: "create-api-token",
			calls:    readPAT + ", BatchGetItem 1r",
		},
		{
			request:  "POST api-tokens",
			as:       "admin",
			body:     `{"tokenName":"a","type":"client"}`,
			status:   201,
			function: "create-api-token",
			calls:    readPAT + ", BatchGetItem 1r, TransactWriteItems 4w+2w+3w",
		},
		{
			request:  "PUT " + client,
			as:       "admin",
			body:     `{"expiresAt":"2099-01-01T00:00:00Z"}`,
			status:   200,
			function: "update-api-token",
			calls:    readPAT + ", GetItem 1r, TransactWriteItems 2w+3w",
		},
		// the same
		{
			request:  "PUT " + client,
			as:       "admin",
			body:     `{"expiresAt":"2099-01-01T00:00:00Z"}`,
			status:   200,
			function: "update-api-token",
			calls:    readPAT + ", GetItem 1r",
		},
		{
			request:  "POST " + client + "/rotate",
			as:       "admin",
			body:     `{}`,
			status:   201,
			function: "rotate-api-token",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 6w+6w+2w",
		},
		{"GET projects/p/api-tokens", "editor", "", 200, "get-project-api-tokens", readPAT + ", BatchGetItem 1r, Query 1r, Scan 1r"},
		{
			request:  "POST projects/p/api-tokens",
			as:       "editor",
			body:     `{"tokenName":"a","type":"client","environment":"production"}`,
			status:   201,
			function: "create-project-api-token",
			calls:    readPAT + ", 2 BatchGetItem 1r, TransactWriteItems 4w+2w+2w+3w",
		},
		{
			request:  "POST projects/p/api-tokens/" + own.Listed() + "/rotate",
			as:       "editor",
			body:     `{}`,
			status:   201,
			function: "rotate-project-api-token",
			calls:    readPAT + ", 2 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 6w+6w+2w",
		},
		{
			request:  "DELETE projects/p/api-tokens/" + own.Listed(),
			as:       "editor",
			status:   200,
			function: "delete-project-api-token",
			calls:    readPAT + ", 2 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 4w+3w+2w",
		},
		{
			request:  "DELETE " + client,
			as:       "admin",
			status:   200,
			function: "delete-api-token",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 4w+3w+2w",
		},
		{"GET environments", "viewer", "", 200, "get-all-environments", readPAT + ", Query 1r, Scan 1r"},
		{"GET environments/project/p", "viewer", "", 200, "get-project-environments", readPAT + ", BatchGetItem 1r, 2 Scan 1r"},
		{"GET environments/production", "viewer", "", 200, "get-environment", readPAT + ", GetItem 1r"},
		{
			request:  "POST environments",
			as:       "admin",
			body:     `{"name":"a","type":"b"}`,
			status:   201,
			function: "create-environment",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 6w+5w",
		},
		{
			request:  "POST environments",
			as:       "admin",
			body:     `{"name":"a","type":"b"}`,
			status:   409,
			function: "create-environment",
			calls:    readPAT + ", GetItem 1r, Scan 1r",
		},
		{
			request:  "PUT environments/update/a",
			as:       "admin",
			body:     `{"sortOrder":9}`,
			status:   200,
			function: "update-environment",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 4w+3w",
		},
		{
			request:  "DELETE environments/a",
			as:       "admin",
			status:   200,
			function: "remove-environment",
			calls:    readPAT + ", GetItem 1r, Scan 1r, TransactWriteItems 6w+5w, 4 Scan 1r, DeleteItem 1w",
		},
		{"GET projects", "viewer", "", 200, "get-projects", readPAT + ", GetItem 1r, Query 1r, 4 Scan 1r"},

		// PAT; account. The counter is counted before, even if the token is not created.
		{
			request:  "POST service-account/4/token",
			as:       "admin",
			body:     newToken,
			status:   201,
			function: "create-service-account-token",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems 2w+2w+3w",
		},
		{
			request:  "POST service-account/4/token",
			as:       "admin",
			body:     newToken,
			status:   409,
			function: "create-service-account-token",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems failed, Query 1r",
		},
		{
			request:  "POST service-account/99/token",
			as:       "admin",
			body:     newToken,
			status:   404,
			function: "create-service-account-token",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems failed",
		},
		{"GET service-account", "admin", "", 200, "get-service-accounts", readPAT + ", Query 1r, 2 Scan 1r"},
		{"GET tokens", "admin", "", 200, "get-tokens", readPAT + ", 3 Scan 1r"},
		{
			request:  "POST service-account",
			as:       "admin",
			body:     `{"username":"a","name":"a","rootRole":3}`,
			status:   201,
			function: "create-service-account",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems 4w+2w+3w",
		},
		// the username exists
		{
			request:  "POST service-account",
			as:       "admin",
			body:     `{"username":"A","name":"a","rootRole":3}`,
			status:   409,
			function: "create-service-account",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems failed",
		},
		{
			request:  "PUT service-account/5",
			as:       "admin",
			body:     `{"rootRole":2}`,
			status:   200,
			function: "update-service-account",
			calls:    readPAT + ", GetItem 1r, TransactWriteItems 2w+3w, Query 1r",
		},
		{
			request:  "DELETE service-account/5",
			as:       "admin",
			status:   200,
			function: "delete-service-account",
			calls: readPAT + ", GetItem 1r, 2 Query 1r, TransactWriteItems 2w+3w, 3 Query 1r, " +
				"2 DeleteItem 1w, GetItem 1r, TransactWriteItems 4w+2w",
		},
		{"DELETE service-account/5", "admin", "", 404, "delete-service-account", readPAT + ", GetItem 1r"},
		{"GET metrics/traffic/2026-11", "admin", "", 200, "get-traffic-usage", readPAT + ", Query 1r"},
		// the merged hours; the records, and each of 24 hours that is not merged
		{"GET client-metrics/features/a", "viewer", "", 200, "get-feature-usage-summary", readPAT + ", 2 BatchGetItem 1r, 27 Query 1r"},
		{"GET client-metrics/features/a/raw?hoursBack=1", "viewer", "", 200, "get-raw-feature-metrics", readPAT + ", 2 BatchGetItem 1r, 4 Query 1r"},
		// the same for any number of toggles, and the records of each
		{"GET client-metrics/features?feature=IS_ANY_OF:a,b", "viewer", "", 200, "get-recent-usage", readPAT + ", 2 BatchGetItem 2r, 28 Query 1r"},
		{"GET metrics/applications", "viewer", "", 200, "get-applications", readPAT + ", 2 Query 1r"},
		{"GET metrics/applications/a", "viewer", "", 404, "get-application", readPAT + ", GetItem 1r, Query 1r"},
		{"GET metrics/unknown-flags", "viewer", "", 200, "get-unknown-flags", readPAT + ", 27 Query 1r"},
		// each of eight partitions
		{"GET search/events", "admin", "", 200, "search-events", readPAT + ", BatchGetItem 2r, 8 Query 1r"},
		{"GET search/events?feature=IS:g", "viewer", "", 200, "search-events", readPAT + ", 2 BatchGetItem 1r, Query 0.5r, Query 1r"},
		// PAT; account
		{
			request:  "DELETE user/tokens/4",
			as:       "new",
			status:   200,
			function: "delete-pat",
			calls:    readPAT + ", " + seen + ", GetItem 1r, TransactWriteItems 2w+2w+3w",
		},
		// the tokens, then their account
		{"GET service-account/4/token", "admin", "", 200, "get-service-account-tokens", readPAT + ", GetItem 1r, Query 1r"},
		{"GET service-account/4/token/5", "admin", "", 200, "get-service-account-token", readPAT + ", BatchGetItem 1r+1r"},
		{
			request:  "DELETE service-account/4/token/5",
			as:       "admin",
			status:   200,
			function: "delete-service-account-token",
			calls:    readPAT + ", GetItem 1r, TransactWriteItems 2w+2w+3w",
		},
		// the account, and the trusts of all accounts
		{"GET service-account/4/trust", "admin", "", 200, "get-service-account-trusts", readPAT + ", GetItem 1r, Query 1r"},
		{
			request:  "POST service-account/4/trust",
			as:       "admin",
			body:     newTrust,
			status:   201,
			function: "create-service-account-trust",
			calls:    readPAT + ", 2 GetItem 1r, Query 1r, TransactWriteItems 4w+2w+3w",
		},
		{
			request:  "DELETE service-account/4/trust/1",
			as:       "admin",
			status:   200,
			function: "delete-service-account-trust",
			calls:    readPAT + ", Query 1r, TransactWriteItems 2w+3w",
		},
		{"GET user/tokens", "viewer", "", 200, "get-pats", readPAT + ", Query 1r"},
		{
			request:  "POST user/tokens",
			as:       "viewer",
			body:     newToken,
			status:   201,
			function: "create-pat",
			calls:    readPAT + ", UpdateItem 1w, TransactWriteItems 2w+2w+3w",
		},
		{"GET user", "viewer", "", 200, "get-me", readPAT + ", GetItem 1r, Query 1r"},

		// A write that can change whether a toggle is potentially stale reads the lifetime, and checks it in the transaction.
		{
			request:  "POST projects/p/features",
			as:       "editor",
			body:     `{"name":"h"}`,
			status:   201,
			function: "create-feature",
			calls: readPAT + ", BatchGetItem 1r, GetItem 1r, 4 Scan 0.5r, Scan 1r, " +
				"TransactWriteItems 3w+5w+2w+2w, 2 GetItem 1r, Scan 1r",
		},
		{
			request:  "POST projects/p/features",
			as:       "editor",
			body:     `{"name":"h"}`,
			status:   409,
			function: "create-feature",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, 4 Scan 0.5r, Scan 1r, TransactWriteItems failed",
		},
		{"GET projects/p/features/h", "viewer", "", 200, "get-feature", readPAT + ", 2 BatchGetItem 1r, 3 GetItem 1r, Query 1r, Scan 1r"},
		{
			request:  "PUT projects/p/features/h",
			as:       "editor",
			body:     `{"description":"d"}`,
			status:   200,
			function: "update-feature",
			calls: readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 3w+3w, BatchGetItem 1r, " +
				"2 GetItem 1r, Query 1r, Scan 1r",
		},
		// the same, and the usage was read ten seconds ago or later
		{
			request:  "PUT projects/p/features/h",
			as:       "editor",
			body:     `{"description":"d"}`,
			status:   200,
			function: "update-feature",
			calls:    readPAT + ", 2 BatchGetItem 1r, 3 GetItem 1r, Scan 1r",
		},
		{"GET projects/p/features", "viewer", "", 200, "get-features", readPAT + ", 2 BatchGetItem 1r, GetItem 1r, Query 1r, 6 Scan 1r"},
		{
			request:  "POST projects/p/stale",
			as:       "editor",
			body:     `{"features":["h"],"stale":true}`,
			status:   202,
			function: "stale-features",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 3w+3w",
		},
		{
			request:  "POST projects/p/stale",
			as:       "editor",
			body:     `{"features":["h"],"stale":false}`,
			status:   202,
			function: "stale-features",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+2w",
		},
		{"GET tag-types", "viewer", "", 200, "get-tag-types", readPAT + ", Query 1r"},
		{"GET tag-types/simple", "viewer", "", 200, "get-tag-type", readPAT + ", GetItem 1r"},
		{
			request:  "POST tag-types",
			as:       "editor",
			body:     `{"name":"team"}`,
			status:   201,
			function: "create-tag-type",
			calls:    readPAT + ", Query 1r, TransactWriteItems 2w+5w",
		},
		{
			request:  "PUT tag-types/team",
			as:       "editor",
			body:     `{"description":"a"}`,
			status:   200,
			function: "update-tag-type",
			calls:    readPAT + ", GetItem 1r, TransactWriteItems 3w+2w",
		},
		{
			request:  "POST features/h/tags",
			as:       "editor",
			body:     `{"type":"team","value":"checkout"}`,
			status:   201,
			function: "add-tag",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+2w",
		},
		{"GET features/h/tags", "viewer", "", 200, "list-tags", readPAT + ", BatchGetItem 1r, GetItem 1r"},
		{
			request:  "PUT features/h/tags",
			as:       "editor",
			body:     `{"addedTags":[{"type":"simple","value":"a1"}],"removedTags":[]}`,
			status:   200,
			function: "update-tags",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w",
		},
		{
			request:  "DELETE features/h/tags/team/checkout",
			as:       "editor",
			status:   200,
			function: "remove-tag",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 3w+3w",
		},
		{
			request:  "PUT projects/p/tags",
			as:       "editor",
			body:     `{"features":["h"],"tags":{"addedTags":[],"removedTags":[{"type":"simple","value":"a1"}]}}`,
			status:   200,
			function: "add-tag-to-features",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 3w+3w",
		},
		{
			request:  "DELETE tag-types/team",
			as:       "editor",
			status:   200,
			function: "delete-tag-type",
			calls:    readPAT + ", GetItem 1r, 4 Scan 1r, TransactWriteItems 2w+5w",
		},
		{"GET tags", "viewer", "", 200, "get-tags", readPAT + ", Query 1r, 4 Scan 1r"},
		{"GET tags/simple", "viewer", "", 200, "get-tags-by-type", readPAT + ", Query 1r, 4 Scan 1r"},
		{"GET tags/simple/none", "viewer", "", 404, "get-tag", readPAT + ", Query 1r, 4 Scan 1r"},
		{
			request:  "POST tag-types/validate",
			as:       "viewer",
			body:     `{"name":"area"}`,
			status:   200,
			function: "validate-tag-type",
			calls:    readPAT + ", GetItem 1r",
		},
		{
			request:  "GET projects/p/features/h/lifecycle",
			as:       "viewer",
			status:   200,
			function: "get-feature-lifecycle",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, Scan 1r",
		},
		{
			request:  "POST projects/p/features/h/favorites",
			as:       "viewer",
			status:   200,
			function: "add-favorite-feature",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, UpdateItem 1w",
		},
		{
			request:  "DELETE projects/p/features/h/favorites",
			as:       "viewer",
			status:   200,
			function: "remove-favorite-feature",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, UpdateItem 1w",
		},
		{
			request:  "POST projects/p/favorites",
			as:       "viewer",
			status:   200,
			function: "add-favorite-project",
			calls:    readPAT + ", " + seen + ", BatchGetItem 1r, UpdateItem 1w",
		},
		{
			request:  "DELETE projects/p/favorites",
			as:       "viewer",
			status:   200,
			function: "remove-favorite-project",
			calls:    readPAT + ", BatchGetItem 1r, UpdateItem 1w",
		},
		{"GET user/views", "viewer", "", 200, "get-saved-views", readPAT + ", GetItem 1r"},
		{"PUT user/views", "viewer", `{"views":[{"name":"Mine","query":"owner=IS:user:3"}]}`, 200, "set-saved-views",
			readPAT + ", GetItem 1r, TransactWriteItems 2w"},
		{"GET code-references", "viewer", "", 200, "get-code-references", readPAT + ", 2 Query 1r"},
		// The stored report, the repositories for the limit, and the project, which is the default project.
		{
			request:  "POST projects/p/code-references",
			as:       "editor",
			body:     `{"repository":"r","references":[{"path":"a","line":1,"toggle":"h"}]}`,
			status:   200,
			function: "report-code-references",
			calls:    readPAT + ", " + seen + ", BatchGetItem 1r, GetItem 1r, Query 1r, TransactWriteItems 4w",
		},
		{
			request:  "GET projects/p/features/h/code-references",
			as:       "viewer",
			status:   200,
			function: "get-feature-code-references",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, Query 1r",
		},
		// The environment, then the toggle. Only the usage that becomes less is read.
		{"GET " + switchOf, "viewer", "", 200, "get-feature-environment", readPAT + ", BatchGetItem 1r, 2 GetItem 1r"},
		{
			request:  "POST " + switchOf + "/on",
			as:       "editor",
			status:   200,
			function: "toggle-feature-environment-on",
			calls:    readPAT + ", 3 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+6w+4w+2w",
		},
		{"POST " + switchOf + "/on", "editor", "", 200, "toggle-feature-environment-on", readPAT + ", BatchGetItem 1r, 2 GetItem 1r"},
		{
			request:  "POST " + switchOf + "/strategies",
			as:       "editor",
			body:     `{"name":"default"}`,
			status:   200,
			function: "add-feature-strategy",
			calls:    readPAT + ", 3 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+4w+2w",
		},
		{
			request:  "GET " + switchOf + "/strategies",
			as:       "viewer",
			status:   200,
			function: "get-feature-strategies",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r",
		},
		{
			request:  "POST " + switchOf + "/strategies/set-sort-order",
			as:       "editor",
			body:     "[]",
			status:   200,
			function: "set-strategy-sort-order",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r",
		},
		{"GET strategies", "viewer", "", 200, "get-all-strategies", readPAT},
		{
			request:  "POST " + switches + "/off",
			as:       "editor",
			body:     `{"features":["h"]}`,
			status:   200,
			function: "bulk-toggle-features-environment-off",
			calls:    readPAT + ", 4 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+4w+2w",
		},
		{
			request:  "POST " + switches + "/on",
			as:       "editor",
			body:     `{"features":["h"]}`,
			status:   200,
			function: "bulk-toggle-features-environment-on",
			calls:    readPAT + ", 3 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+4w+2w",
		},
		{
			request:  "POST " + switchOf + "/off",
			as:       "editor",
			status:   200,
			function: "toggle-feature-environment-off",
			calls:    readPAT + ", 4 BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 3w+3w+4w+2w",
		},
		// the toggle, four segments of the table, the environments, the type
		{
			request:  "POST projects/p/features/h/clone",
			as:       "editor",
			body:     `{"name":"i"}`,
			status:   201,
			function: "clone-feature",
			calls: readPAT + ", BatchGetItem 1r, 2 GetItem 1r, 4 Scan 0.5r, Scan 1r, " +
				"TransactWriteItems 3w+5w+2w+2w+2w, 2 GetItem 1r, Scan 1r",
		},
		// The toggle, then the parent. Both are written.
		{
			request:  "POST projects/p/features/h/dependencies",
			as:       "editor",
			body:     `{"feature":"i"}`,
			status:   200,
			function: "add-feature-dependency",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 6w+3w",
		},
		{
			request:  "DELETE projects/p/features/h/dependencies/i",
			as:       "editor",
			status:   200,
			function: "delete-feature-dependency",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, TransactWriteItems 6w+3w",
		},
		{
			request:  "DELETE projects/p/features/h",
			as:       "editor",
			status:   202,
			function: "archive-feature",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 3w+3w",
		},
		{"DELETE projects/p/features/h", "editor", "", 202, "archive-feature", readPAT + ", BatchGetItem 1r, GetItem 1r"},
		{
			request:  "POST archive/revive/old-banner",
			as:       "editor",
			status:   200,
			function: "revive-feature",
			calls:    readPAT + ", BatchGetItem 1r, 2 GetItem 1r, Scan 1r, TransactWriteItems 3w+6w+2w+2w+2w",
		},
		{"DELETE archive/h", "editor", "", 200, "delete-feature", readPAT + ", BatchGetItem 1r, GetItem 1r, TransactWriteItems 2w+5w"},
		// four segments of the table, and two other tables
		{
			request:  "POST playground/advanced",
			as:       "viewer",
			body:     `{"environments":["production"],"context":{}}`,
			status:   200,
			function: "evaluate-features",
			calls:    readPAT + ", Query 1r, 6 Scan 1r",
		},
		{
			request:  "POST playground/strategy",
			as:       "viewer",
			body:     `{"name":"default","parameters":{},"context":{}}`,
			status:   200,
			function: "evaluate-strategy",
			calls:    readPAT,
		},
		{
			request:  "POST playground/strategy",
			as:       "viewer",
			body:     `{"name":"default","parameters":{},"segments":[1],"context":{}}`,
			status:   200,
			function: "evaluate-strategy",
			calls:    readPAT + ", Query 1r, Scan 1r",
		},
		{"GET search/features", "viewer", "", 200, "search-features", readPAT + ", BatchGetItem 1r, GetItem 1r, 2 Query 1r, 6 Scan 1r"},
		{"GET search/features/counts?project=IS:shop", "viewer", "", 200, "count-features", readPAT + ", Query 1r, 6 Scan 1r"},
		// the types and the environments, sixteen shards for each of five types, then the toggle of the page
		{
			request:  "GET search/features?state=IS:potentially-stale&limit=1",
			as:       "viewer",
			status:   200,
			function: "search-features",
			calls:    readPAT + ", BatchGetItem 1r, GetItem 1r, 80 Query 0.5r, Query 1r, 2 Scan 1r",
		},
		// of another user
		{"DELETE user/tokens/1", "viewer", "", 404, "delete-pat", readPAT + ", GetItem 1r"},
	} {
		request := strings.Replace(test.request, " ", " /api/admin/", 1)
		t.Run(fmt.Sprint(test.request, " ", test.as, " ", test.body, " ", test.status), func(t *testing.T) {
			if !strings.HasPrefix(request, http.MethodGet) {
				s.clock.Add(1) // otherwise two functions issue the same id of an event
			}
			status, got := s.calls(t, request, test.as, test.body)
			assert.Equal(t, fmt.Sprint(test.status, ": ", test.calls), fmt.Sprint(status, ": ", strings.ReplaceAll(got, test.function+" ", "")))
		})
	}
}

// A creation in a full account fails first, then reads the tokens and deletes the one that expired first.
func TestCallsInAFullAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fillWithExpired(t, 3)
	status, calls := s.calls(t, "POST /api/admin/user/tokens", "viewer", inAFullAccount)
	assert.Equal(t, "201 "+readPAT+", create-pat UpdateItem 1w, create-pat TransactWriteItems failed, "+
		"create-pat Query 1r, create-pat TransactWriteItems 4w+2w+6w", fmt.Sprint(status, " ", calls))
}

// The limit of 100 tokens per account exists so that the account's item stays within one read unit (4 KB).
func TestCallsWithAHundredTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	tokens := dynamo.Item{}
	for i := range pat.MostPerOwner - 1 { // the longest keys and IDs
		tokens[fmt.Sprintf("%022d", i)] = dynamo.N(access.MaxID - int64(i))
	}
	_, err := s.client(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(s.tables["Users"]), Item: dynamo.Item{
		"id": dynamo.N(7), "kind": dynamo.S(string(user.ServiceAccount)), "name": dynamo.S(strings.Repeat("n", 100)),
		"rootRole": dynamo.N(int64(access.RoleAdmin)), "disabled": dynamo.Bool(false), user.AttributePATs: dynamo.M(tokens),
	}})
	assert.OK(t, err)
	s.tokens["hundredth"] = s.createToken(t, 7, time.Unix(s.clock.Load(), 0).Add(time.Hour))
	_, got := s.calls(t, "GET /api/admin/context", "hundredth", "")
	assert.Equal(t, readPAT+", "+seen+", get-context-fields Scan 1r", got)
}

// A field of the maximum size can be created and changed. It costs a write of a toggle as little as a small one.
func TestCallsWithALargeField(t *testing.T) {
	t.Parallel()
	s := start(t)
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"value":"%d","description":"%s"}`, i, strings.Repeat("d", 380))
	}
	body := `{"name":"large","legalValues":[` + strings.Join(values, ",") + `]}`
	status, response := s.send(t, "POST /api/admin/context", "editor", body)
	assert.Equal(t, 201, status)
	changed := strings.Replace(string(response), `"description":null`, `"description":"changed"`, 1)
	status, _ = s.send(t, "PUT /api/admin/context/large", "editor", changed)
	assert.Equal(t, 200, status)
	client := s.client(t)
	s.putProject(t)
	_, err := feature.NewStore(client, s.tables, eventlog.Discard(client, time.Now)).Create(t.Context(), toggle.Feature{
		Name: "banner", Project: "p", Type: "release", CreatedAt: time.Unix(s.clock.Load(), 0),
		ContextFields: []string{"large"},
	})
	assert.OK(t, err)
	s.clock.Add(1)
	status, calls := s.calls(t, "DELETE /api/admin/projects/p/features/banner", "editor", "")
	assert.Equal(t, "202: "+readPAT+", 2 archive-feature BatchGetItem 1r, archive-feature GetItem 1r, "+
		"archive-feature TransactWriteItems 3w+3w+2w", fmt.Sprint(status, ": ", calls))
}

// putProject adds the project p.
func (s *service) putProject(t *testing.T) {
	t.Helper()
	_, err := s.client(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(s.tables[accesstable.Table]),
		Item: accesstable.MarshalProject(access.NewProject("p", "Project"))})
	assert.OK(t, err)
}

// A change request with one change, from the draft to the change.
func TestCallsOfChangeRequests(t *testing.T) { //nolint:tparallel // the steps follow one another
	t.Parallel()
	s := start(t)
	const (
		requests   = "projects/shop/change-requests"
		production = "projects/shop/environments/production/change-requests"
	)
	for _, step := range []struct {
		request  string
		as       string
		body     string
		status   int // 0: 200
		function string
		calls    string // of the authorizer, and of the function
	}{
		{
			request:  "PUT " + production + "/config",
			as:       "admin",
			body:     `{"changeRequestsEnabled":true,"requiredApprovals":1}`,
			status:   204,
			function: "update-project-change-request-config",
			calls:    readPAT + ", 2 BatchGetItem 1r, GetItem 1r, TransactWriteItems 4w+3w",
		},
		{
			request:  "POST " + production,
			as:       "editor",
			body:     `{"feature":"new-checkout","action":"updateEnabled","payload":{"enabled":true}}`,
			function: "create-change-request",
			calls: readPAT + ", 9 BatchGetItem 1r, 3 GetItem 1r, 2 Scan 1r, TransactWriteItems 8w+3w, " +
				"4 BatchGetItem 1r, Scan 1r",
		},
		{
			request:  "PUT " + requests + "/1/state",
			as:       "editor",
			body:     `{"state":"In review"}`,
			function: "update-change-request-state",
			calls:    readPAT + ", 4 BatchGetItem 1r, GetItem 1r, Scan 1r, TransactWriteItems 6w+3w, 4 BatchGetItem 1r, Scan 1r",
		},
		{
			request:  "GET " + requests + "/1",
			as:       "viewer",
			function: "get-change-request",
			calls:    readPAT + ", 5 BatchGetItem 1r, GetItem 1r, Scan 1r",
		},
		{
			request:  "GET " + requests,
			as:       "viewer",
			function: "get-change-requests",
			calls:    readPAT + ", 4 BatchGetItem 1r, Query 0.5r",
		},
		{
			request:  "PUT " + requests + "/1/state",
			as:       "admin",
			body:     `{"state":"Approved"}`,
			function: "update-change-request-state",
			calls: readPAT + ", 4 BatchGetItem 1r, GetItem 1r, Scan 1r, TransactWriteItems 6w+3w, " +
				"3 BatchGetItem 1r, BatchGetItem 2r, Scan 1r",
		},
		{
			request:  "PUT " + requests + "/1/state",
			as:       "admin",
			body:     `{"state":"Applied"}`,
			function: "update-change-request-state",
			calls: readPAT + ", 7 BatchGetItem 1r, 3 GetItem 1r, Scan 1r, TransactWriteItems 3w+9w+4w+4w+2w+6w, " +
				"BatchGetItem 1r, BatchGetItem 2r, Scan 1r",
		},
	} {
		t.Run(step.request+" "+step.body, func(t *testing.T) {
			s.clock.Add(1) // otherwise two functions issue the same id of an event
			status, got := s.calls(t, strings.Replace(step.request, " ", " /api/admin/", 1), step.as, step.body)
			assert.Equal(t, fmt.Sprint(cmp.Or(step.status, 200), ": ", step.calls),
				fmt.Sprint(status, ": ", strings.ReplaceAll(got, step.function+" ", "")))
		})
	}
}

// A write of strategies costs two write units for each KB of the toggle, whose strategies are compressed, and one for its
// index entry; three for each KB of an event, which has the strategy as JSON; two for the environment, and
// two each for the conditions that the project and the environment are protected as they were read.
func TestCallsWithStrategies(t *testing.T) {
	t.Parallel()
	s := start(t)
	const state = "/api/admin/projects/shop/features/new-checkout/environments/production"
	status, response := s.send(t, "POST "+state+"/strategies", "editor", `{"name":"default"}`)
	assert.Equal(t, 200, status)
	var created struct{ ID string }
	assert.OK(t, json.Unmarshal(response, &created))
	strategy := state + "/strategies/" + created.ID
	for _, test := range []struct{ request, body, function, want string }{
		{"POST " + state + "/strategies", `{"name":"default"}`, "add-feature-strategy", "3w+3w+4w+2w"},
		{"PUT " + strategy, `{"title":"All"}`, "update-feature-strategy", "3w+3w+4w+2w"},
		{"POST " + state + "/strategies/set-sort-order", `[{"id":"` + created.ID + `","sortOrder":7}]`, "set-strategy-sort-order", "3w+3w+4w+2w"},
		{"DELETE " + strategy, "", "delete-feature-strategy", "3w+3w+2w+2w"},
	} {
		s.clock.Add(1) // otherwise two functions issue the same id of an event
		status, calls := s.calls(t, test.request, "editor", test.body)
		assert.Equal(t, "200: "+readPAT+", 3 FUNCTION BatchGetItem 1r, 2 FUNCTION GetItem 1r, FUNCTION TransactWriteItems "+test.want,
			strings.ReplaceAll(fmt.Sprint(status, ": ", calls), test.function, "FUNCTION"))
	}
	// The toggle has 2 KB, and the event has 5 KB. A context field that is named is read, checked and counted. Whether the
	// environment is full is read, because the toggle becomes larger.
	values := make([]string, 250)
	for i := range values {
		values[i] = fmt.Sprintf("customer-%04d", i*i)
	}
	large, err := json.Marshal(map[string]any{"name": "default", "constraints": []map[string]any{
		{"contextName": "userId", "operator": "IN", "values": values},
	}})
	assert.OK(t, err)
	s.clock.Add(1)
	status, calls := s.calls(t, "POST "+state+"/strategies", "editor", string(large))
	assert.Equal(t, "200: "+readPAT+", 5 add-feature-strategy BatchGetItem 1r, 2 add-feature-strategy GetItem 1r, "+
		"add-feature-strategy TransactWriteItems 5w+15w+4w+4w+2w", fmt.Sprint(status, ": ", calls))
	// Two toggles, of which the first has two KB now, and the events of a strategy and of the switch of each.
	status, _ = s.send(t, "POST /api/admin/projects/shop/features", "editor", `{"name":"second"}`)
	assert.Equal(t, 201, status)
	s.clock.Add(1)
	status, calls = s.calls(t, "POST /api/admin/projects/shop/bulk_features/environments/development/on", "editor",
		`{"features":["new-checkout","second"]}`)
	assert.Equal(t, "200: "+readPAT+", 3 bulk-toggle-features-environment-on BatchGetItem 1r, bulk-toggle-features-environment-on BatchGetItem 2r, "+
		"bulk-toggle-features-environment-on GetItem 1r, "+
		"bulk-toggle-features-environment-on TransactWriteItems 8w+12w+4w+2w", fmt.Sprint(status, ": ", calls))
}

// client returns a DynamoDB client whose calls are not counted.
func (s *service) client(t *testing.T) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(s.config(t), s.DynamoDBEndpoint)
	assert.OK(t, err)
	return client
}

// config is the AWS configuration for the service's engine.
func (s *service) config(t *testing.T) aws.Config {
	t.Helper()
	client := dynamo.NewHTTPClient(s.DynamoDBEndpoint)
	t.Cleanup(client.CloseIdleConnections)
	return aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: client}
}
