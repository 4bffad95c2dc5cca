// Package usage_test counts the DynamoDB calls and capacity units of every function, and compares the calls with the
// function's permissions in template.yaml.
package usage_test

import (
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
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/localtest"
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
	s := &service{tokens: map[string]string{}}
	s.clock.Store(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).Unix())
	s.Running = localtest.Start(t, local.Config{
		APIOptions: s.meter.options, Now: func() time.Time { return time.Unix(s.clock.Load(), 0) }, RequestsOnly: true,
	})
	s.tables = dynamo.TablesByID(s.DynamoDB.Tables)
	s.tokens["api-token"] = s.APIToken
	for _, u := range s.Users {
		s.tokens[u.Name] = u.PAT
		s.calls(t, "GET /api/admin/context", u.Name, "")
	}
	s.calls(t, "GET /api/admin/context", "api-token", "")
	s.tokens["new"] = s.createToken(t, 4)
	return s
}

// createToken creates a token of an account.
func (s *service) createToken(t *testing.T, account int64) string {
	t.Helper()
	_, body := s.send(t, fmt.Sprintf("POST /api/admin/service-account/%d/token", account), "api-token",
		`{"description":"usage","expiresAt":"2199-01-01T00:00:00Z"}`)
	var created struct{ Secret string }
	if err := json.Unmarshal(body, &created); err != nil || created.Secret == "" {
		t.Fatalf("%s: %v", body, err)
	}
	return created.Secret
}

// calls sends a request and returns its status and the calls that it caused: "function API units".
func (s *service) calls(t *testing.T, request, as, body string) (status int, calls []string) {
	t.Helper()
	s.meter.take()
	status, _ = s.send(t, request, as, body)
	for _, c := range s.meter.take() {
		if c.Attempts != 1 {
			t.Errorf("%s took %d attempts", c, c.Attempts)
		}
		calls = append(calls, c.String())
	}
	return status, calls
}

func (s *service) send(t *testing.T, request, as, body string) (status int, response []byte) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token := s.tokens[as]; token != "" {
		r.Header.Set("Authorization", token)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	response, err = io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, response
}

// The calls of the authorizer.
const (
	readAPIToken = "authorizer GetItem 1r"
	readPAT      = "authorizer BatchGetItem 1r+1r" // token and user
	seen         = "authorizer UpdateItem 1w"      // seenAt
)

func TestCallsOfEachOperation(t *testing.T) { //nolint:tparallel // one request at a time is counted
	t.Parallel()
	s := start(t)
	const (
		create    = `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`
		counted   = "create-service-account-token UpdateItem 1w"
		notStored = "create-service-account-token TransactWriteItems failed"
	)
	for _, tt := range []struct {
		name    string
		request string
		as      string
		body    string
		status  int
		want    []string
	}{
		{"unknown path", "GET /api/admin/nothing", "admin", "", 404, nil},
		{"without a credential", "GET /api/admin/context", "nobody", "", 401, nil},
		{"without the permission", "PUT /api/admin/feature-types/release/lifetime", "editor", `{"lifetimeDays":1}`, 403,
			[]string{readPAT}},
		{"invalid body", "PUT /api/admin/feature-types/release/lifetime", "admin", `{}`, 400, []string{readPAT}},

		{"4.1", "PUT /api/admin/feedback/f", "admin", `{}`, 200, []string{readPAT, "update-feedback UpdateItem 1w"}},
		{"4.1 for another user", "PUT /api/admin/feedback/f", "admin", `{"userId":2}`, 200,
			[]string{readPAT, "update-feedback GetItem 1r", "update-feedback UpdateItem 1w"}},
		{"4.2", "GET /api/admin/feature-types", "api-token", "", 200, []string{readAPIToken, "list-feature-types Scan 1r"}},
		{"4.3", "PUT /api/admin/feature-types/release/lifetime", "admin", `{"lifetimeDays":50}`, 200,
			[]string{readPAT, "update-feature-type-lifetime GetItem 1r",
				"update-feature-type-lifetime TransactWriteItems 2w+3w"}},
		{"4.4", "GET /api/admin/context", "viewer", "", 200, []string{readPAT, "list-context-fields Scan 1r"}},
		{"4.11 GET", "GET /api/admin/context/userId", "viewer", "", 200, []string{readPAT, "get-context-field GetItem 1r"}},
		{"4.11 POST", "POST /api/admin/context", "editor", `{"name":"a","sortOrder":1}`, 201,
			[]string{readPAT, "create-context-field TransactWriteItems 4w+5w"}},
		{"4.11 POST without sortOrder", "POST /api/admin/context", "editor", `{"name":"a"}`, 409,
			[]string{readPAT, "create-context-field Scan 1r", "create-context-field TransactWriteItems failed"}},
		{"4.11 PUT", "PUT /api/admin/context/a", "editor", `{"sortOrder":2}`, 200,
			[]string{readPAT, "update-context-field GetItem 1r", "update-context-field TransactWriteItems 2w+3w"}},
		{"4.11 PUT of the same", "PUT /api/admin/context/a", "editor", `{"sortOrder":2}`, 200,
			[]string{readPAT, "update-context-field GetItem 1r"}},
		{"4.11 PUT without sortOrder", "PUT /api/admin/context/a", "editor", `{}`, 200,
			[]string{readPAT, "update-context-field Scan 1r", "update-context-field GetItem 1r",
				"update-context-field TransactWriteItems 2w+3w"}},
		{"4.11 DELETE", "DELETE /api/admin/context/a", "editor", "", 200,
			[]string{readPAT, "delete-context-field GetItem 1r", "delete-context-field TransactWriteItems 4w+5w"}},
		{"4.11 DELETE of a used field", "DELETE /api/admin/context/userId", "editor", "", 409,
			[]string{readPAT, "delete-context-field GetItem 1r"}},
		// PAT; account. The counter is counted before, even if the token is not created.
		{"4.5", "POST /api/admin/service-account/4/token", "admin", create, 201,
			[]string{readPAT, counted, "create-service-account-token TransactWriteItems 2w+2w+3w"}},
		{"4.5 again", "POST /api/admin/service-account/4/token", "admin", create, 409,
			[]string{readPAT, counted, notStored}},
		{"4.5 unknown account", "POST /api/admin/service-account/99/token", "admin", create, 404,
			[]string{readPAT, counted, notStored}},
		{"list service accounts", "GET /api/admin/service-account", "admin", "", 200,
			[]string{readPAT, "list-service-accounts Scan 1r", "list-service-accounts Scan 1r"}},
		{"create service account", "POST /api/admin/service-account", "admin", `{"username":"a","name":"a","rootRole":3}`,
			201,
			[]string{readPAT, "create-service-account UpdateItem 1w", "create-service-account TransactWriteItems 4w+2w+3w"}},
		{"username exists", "POST /api/admin/service-account", "admin", `{"username":"A","name":"a","rootRole":3}`, 409,
			[]string{readPAT, "create-service-account UpdateItem 1w", "create-service-account TransactWriteItems failed"}},
		{"update service account", "PUT /api/admin/service-account/5", "admin", `{"rootRole":2}`, 200,
			[]string{readPAT, "update-service-account GetItem 1r", "update-service-account TransactWriteItems 2w+3w",
				"update-service-account Query 1r"}},
		{"delete service account", "DELETE /api/admin/service-account/5", "admin", "", 200,
			[]string{readPAT, "delete-service-account GetItem 1r", "delete-service-account TransactWriteItems 2w+3w",
				"delete-service-account Query 1r",
				"delete-service-account GetItem 1r", "delete-service-account TransactWriteItems 4w+2w"}},
		{"unknown service account", "DELETE /api/admin/service-account/5", "admin", "", 404,
			[]string{readPAT, "delete-service-account GetItem 1r"}},
		{"4.6", "GET /api/admin/metrics/traffic/2026-11", "admin", "", 200, []string{readPAT, "get-traffic-usage Query 1r"}},
		// Each of eight partitions is counted, then read.
		{"search events", "GET /api/admin/search/events", "admin", "", 200,
			append([]string{readPAT}, slices.Repeat([]string{"search-events Query 1r"}, 16)...)},
		{"4.7", "DELETE /api/admin/user/tokens/4", "new", "", 200, // PAT; account
			[]string{readPAT, seen, "delete-own-token GetItem 1r", "delete-own-token TransactWriteItems 2w+2w+3w"}},
		{"4.9 list", "GET /api/admin/service-account/4/token", "admin", "", 200, // the tokens, then their account
			[]string{readPAT, "list-service-account-tokens Query 1r", "list-service-account-tokens GetItem 1r"}},
		{"4.9 get", "GET /api/admin/service-account/4/token/5", "admin", "", 200,
			[]string{readPAT, "get-service-account-token BatchGetItem 1r+1r"}},
		{"4.9 delete", "DELETE /api/admin/service-account/4/token/5", "admin", "", 200, // PAT; account
			[]string{readPAT, "delete-service-account-token GetItem 1r",
				"delete-service-account-token TransactWriteItems 2w+2w+3w"}},
		{"4.10 list", "GET /api/admin/user/tokens", "viewer", "", 200, []string{readPAT, "list-own-tokens Query 1r"}},
		{"4.10 create", "POST /api/admin/user/tokens", "viewer", create, 201,
			[]string{readPAT, "create-own-token UpdateItem 1w", "create-own-token TransactWriteItems 2w+2w+3w"}},
		{"4.12", "GET /api/admin/user", "viewer", "", 200, []string{readPAT, "get-own-user GetItem 1r"}},
		// A write that can change whether a toggle is potentially stale reads the lifetime, and checks it in the transaction.
		{"4.14 POST", "POST /api/admin/projects/p/features", "editor", `{"name":"h"}`, 201,
			[]string{readPAT, "create-feature GetItem 1r", "create-feature TransactWriteItems 3w+5w+2w",
				"create-feature GetItem 1r"}},
		{"4.14 POST of a name that exists", "POST /api/admin/projects/p/features", "editor", `{"name":"h"}`, 409,
			[]string{readPAT, "create-feature GetItem 1r", "create-feature TransactWriteItems failed"}},
		{"4.14 GET", "GET /api/admin/projects/p/features/h", "viewer", "", 200,
			[]string{readPAT, "get-feature GetItem 1r", "get-feature GetItem 1r"}},
		{"4.14 PUT", "PUT /api/admin/projects/p/features/h", "editor", `{"description":"d"}`, 200,
			[]string{readPAT, "update-feature GetItem 1r", "update-feature TransactWriteItems 3w+3w",
				"update-feature GetItem 1r"}},
		{"4.14 PUT of the same", "PUT /api/admin/projects/p/features/h", "editor", `{"description":"d"}`, 200,
			[]string{readPAT, "update-feature GetItem 1r", "update-feature GetItem 1r"}},
		{"4.14 list", "GET /api/admin/projects/p/features", "viewer", "", 200,
			[]string{readPAT, "list-features Scan 1r", "list-features Scan 1r", "list-features Scan 1r", "list-features Scan 1r",
				"list-features Scan 1r"}},
		{"4.14 stale", "POST /api/admin/projects/p/stale", "editor", `{"features":["h"],"stale":true}`, 202,
			[]string{readPAT, "mark-features-stale GetItem 1r", "mark-features-stale TransactWriteItems 3w+3w"}},
		{"4.14 not stale", "POST /api/admin/projects/p/stale", "editor", `{"features":["h"],"stale":false}`, 202,
			[]string{readPAT, "mark-features-stale GetItem 1r", "mark-features-stale GetItem 1r",
				"mark-features-stale TransactWriteItems 3w+3w+2w"}},
		{"4.14 DELETE", "DELETE /api/admin/projects/p/features/h", "editor", "", 202,
			[]string{readPAT, "archive-feature GetItem 1r", "archive-feature TransactWriteItems 3w+3w"}},
		{"4.14 DELETE again", "DELETE /api/admin/projects/p/features/h", "editor", "", 202,
			[]string{readPAT, "archive-feature GetItem 1r"}},
		{"4.14 revive", "POST /api/admin/archive/revive/old-banner", "editor", "", 200,
			[]string{readPAT, "revive-feature GetItem 1r", "revive-feature GetItem 1r",
				"revive-feature TransactWriteItems 3w+6w+2w+2w"}},
		{"4.14 delete", "DELETE /api/admin/archive/h", "editor", "", 200,
			[]string{readPAT, "delete-feature GetItem 1r", "delete-feature TransactWriteItems 2w+5w"}},
		// Four segments of the table; the types.
		{"4.15", "GET /api/admin/search/features", "viewer", "", 200,
			append([]string{readPAT}, slices.Repeat([]string{"search-features Scan 1r"}, 5)...)},
		// Sixteen shards for each of five types, then the toggle of the page.
		{"4.15 potentially stale", "GET /api/admin/search/features?state=IS:potentially-stale&limit=1", "viewer", "", 200,
			slices.Concat([]string{readPAT, "search-features Scan 1r"}, slices.Repeat([]string{"search-features Query 0.5r"},
				80),
				[]string{"search-features BatchGetItem 1r"})},
		{"4.7 of another user", "DELETE /api/admin/user/tokens/1", "viewer", "", 404,
			[]string{readPAT, "delete-own-token GetItem 1r"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.HasPrefix(tt.request, http.MethodGet) {
				s.clock.Add(1) // otherwise two functions issue the same id of an event
			}
			status, got := s.calls(t, tt.request, tt.as, tt.body)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The limit of 100 tokens per account exists so that the account's item stays within one read unit (4 KB).
func TestAnAccountWithAHundredTokensIsOneReadUnit(t *testing.T) {
	t.Parallel()
	s := start(t)
	tokens := dynamo.Item{}
	for i := range pat.MostPerOwner - 1 { // the longest keys and IDs
		tokens[fmt.Sprintf("%022d", i)] = dynamo.N(access.MaxID - int64(i))
	}
	client := s.client(t)
	if err := dynamo.PutNew(t.Context(), client, s.tables.Users, "id", dynamo.Item{
		"id": dynamo.N(7), "kind": dynamo.S(string(user.ServiceAccount)), "name": dynamo.S(strings.Repeat("n", 100)),
		"rootRole": dynamo.S(string(access.RoleAdmin)), "disabled": dynamo.Bool(false), user.AttributePATs: dynamo.M(tokens),
	}); err != nil {
		t.Fatal(err)
	}
	_, token, err := pat.NewStore(client, s.tables, eventlog.Quiet(client), rand.Reader).Create(t.Context(),
		pat.PAT{UserID: 7, Description: "hundredth", ExpiresAt: time.Unix(s.clock.Load(), 0).Add(time.Hour)},
		pat.Owner{Kind: user.ServiceAccount, Limit: pat.MostPerOwner})
	if err != nil {
		t.Fatal(err)
	}
	s.tokens["hundredth"] = token.Reveal()
	_, got := s.calls(t, "GET /api/admin/context", "hundredth", "")
	if diff := cmp.Diff([]string{readPAT, seen, "list-context-fields Scan 1r"}, got); diff != "" {
		t.Error(diff)
	}
}

// client returns a DynamoDB client whose calls are not counted.
func (s *service) client(t *testing.T) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(s.config(t), s.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// config is the AWS configuration for the service's engine.
func (s *service) config(t *testing.T) aws.Config {
	t.Helper()
	client := dynamo.NewHTTPClient(s.DynamoDB.Endpoint)
	t.Cleanup(client.CloseIdleConnections)
	return aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: client}
}
