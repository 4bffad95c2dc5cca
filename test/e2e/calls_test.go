package e2e_test

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

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
	"toggleadmin/test/localtest"
	"toggleadmin/test/table"
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

// summarize joins calls. Equal ones that follow one another are counted. Calls of GetItem and Scan that follow one
// another are sorted, because some are concurrent.
func summarize(calls []string) string {
	for start := 0; start < len(calls); start++ {
		end := start
		for end < len(calls) && isGetOrScan(calls[end]) {
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

func isGetOrScan(call string) bool {
	_, api, _ := strings.Cut(call, " ")
	return strings.HasPrefix(api, "GetItem ") || strings.HasPrefix(api, "Scan ")
}

func (s *service) send(t *testing.T, request, as, body string) (status int, response []byte) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	assert.OK(t, err)
	r.Header.Set("Content-Type", "application/json")
	if token := s.tokens[as]; token != "" {
		r.Header.Set("Authorization", token)
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
	readPAT = "authorizer BatchGetItem 1r+1r" // token and user
	seen    = "authorizer UpdateItem 1w"      // seenAt
)

func TestCallsOfEachOperation(t *testing.T) { //nolint:tparallel // one request at a time is counted
	t.Parallel()
	s := start(t)
	abbreviations := strings.NewReplacer("PAT", readPAT, "API-TOKEN", "authorizer GetItem 1r", "SEEN", seen,
		"LIFETIME", "feature-types/release/lifetime",
		"SWITCHES", "projects/p/bulk_features/environments/production",
		"CLIENT", "api-tokens/"+s.createClientToken(t),
		"SWITCH", "projects/p/features/h/environments/production", "NEW", `{"description":"a","expiresAt":"2199-01-01T00:00:00Z"}`)
	for _, row := range table.Rows(t, 6, abbreviations.Replace(`
		# request | as | body | status | function; none: only the authorizer's | calls of the authorizer, and of the function
		GET nothing | admin | | 404 | none |
		GET context | nobody | | 401 | none |
		PUT LIFETIME | editor | {"lifetimeDays":1} | 403 | none | PAT
		PUT LIFETIME | admin | {} | 400 | none | PAT
		PUT feedback/f | admin | {} | 200 | update-feedback | PAT, UpdateItem 1w
		# for another user
		PUT feedback/f | admin | {"userId":2} | 200 | update-feedback | PAT, GetItem 1r, UpdateItem 1w
		GET feature-types | api-token | | 200 | list-feature-types | API-TOKEN, Scan 1r
		PUT LIFETIME | admin | {"lifetimeDays":50} | 200 | update-feature-type-lifetime | PAT, GetItem 1r, TransactWriteItems 2w+3w
		# the same
		PUT LIFETIME | admin | {"lifetimeDays":50} | 200 | update-feature-type-lifetime | PAT, GetItem 1r, TransactWriteItems 2w

		GET context | viewer | | 200 | list-context-fields | PAT, Scan 1r
		GET context/userId | viewer | | 200 | get-context-field | PAT, BatchGetItem 2r
		POST context | editor | {"name":"a","sortOrder":1} | 201 | create-context-field | PAT, GetItem 1r, Scan 1r, TransactWriteItems 6w+5w
		POST context | editor | {"name":"a"} | 409 | create-context-field | PAT, GetItem 1r, Scan 1r
		PUT context/a | editor | {"sortOrder":2} | 200 | update-context-field | PAT, GetItem 1r, Scan 1r, TransactWriteItems 4w+3w
		# the same
		PUT context/a | editor | {"sortOrder":2} | 200 | update-context-field | PAT, GetItem 1r, Scan 1r
		PUT context/a | editor | {} | 200 | update-context-field | PAT, GetItem 1r, Scan 1r, TransactWriteItems 4w+3w
		DELETE context/a | editor | | 200 | delete-context-field | PAT, BatchGetItem 2r, TransactWriteItems 6w+5w
		# it is used
		DELETE context/userId | editor | | 409 | delete-context-field | PAT, BatchGetItem 2r

		POST constraints/validate | viewer | {"contextName":"userId","operator":"IN","values":["7"]} | 204 | validate-constraint | PAT, BatchGetItem 1r
		GET segments | viewer | | 200 | list-segments | PAT, Scan 1r
		POST segments | editor | {"name":"a","constraints":[{"contextName":"plan","operator":"IN","values":["a"]}]} | 400 | create-segment | PAT, GetItem 1r, Scan 1r, BatchGetItem 1r
		POST segments | editor | {"name":"a","constraints":[]} | 201 | create-segment | PAT, GetItem 1r, Scan 1r, TransactWriteItems 6w+3w
		GET segments/1 | viewer | | 200 | get-segment | PAT, BatchGetItem 2r
		GET segments/1/strategies | viewer | | 200 | list-segment-strategies | PAT, BatchGetItem 2r, 4 Scan 1r
		PUT segments/1 | editor | {"name":"b"} | 204 | update-segment | PAT, GetItem 1r, Scan 1r, TransactWriteItems 4w+3w
		DELETE segments/1 | editor | | 204 | delete-segment | PAT, BatchGetItem 2r, TransactWriteItems 4w+3w
		GET api-tokens | editor | | 200 | list-client-tokens | PAT, Scan 1r
		POST api-tokens | admin | {"tokenName":"a","type":"client","environment":"none"} | 400 | create-client-token | PAT, GetItem 1r, BatchGetItem 1r
		POST api-tokens | admin | {"tokenName":"a","type":"client"} | 201 | create-client-token | PAT, GetItem 1r, BatchGetItem 1r, Scan 1r, TransactWriteItems 4w+2w+3w
		PUT CLIENT | admin | {"expiresAt":"2099-01-01T00:00:00Z"} | 200 | update-client-token | PAT, GetItem 1r, TransactWriteItems 2w+3w
		# the same
		PUT CLIENT | admin | {"expiresAt":"2099-01-01T00:00:00Z"} | 200 | update-client-token | PAT, GetItem 1r
		DELETE CLIENT | admin | | 200 | delete-client-token | PAT, GetItem 1r, BatchGetItem 1r, TransactWriteItems 2w+3w+2w
		GET environments | viewer | | 200 | list-environments | PAT, 5 Scan 1r
		GET environments/project/p | viewer | | 200 | list-project-environments | PAT, 2 Scan 1r
		GET environments/production | viewer | | 200 | get-environment | PAT, GetItem 1r
		POST environments | admin | {"name":"a","type":"b"} | 201 | create-environment | PAT, GetItem 1r, Scan 1r, TransactWriteItems 6w+5w
		POST environments | admin | {"name":"a","type":"b"} | 409 | create-environment | PAT, GetItem 1r, Scan 1r
		PUT environments/update/a | admin | {"sortOrder":9} | 200 | update-environment | PAT, GetItem 1r, Scan 1r, TransactWriteItems 4w+3w
		DELETE environments/a | admin | | 200 | delete-environment | PAT, GetItem 1r, Scan 1r, TransactWriteItems 6w+5w, 4 Scan 1r, DeleteItem 1w
		GET projects | viewer | | 200 | list-projects | PAT, 4 Scan 1r

		# PAT; account. The counter is counted before, even if the token is not created.
		POST service-account/4/token | admin | NEW | 201 | create-service-account-token | PAT, UpdateItem 1w, TransactWriteItems 2w+2w+3w
		POST service-account/4/token | admin | NEW | 409 | create-service-account-token | PAT, UpdateItem 1w, TransactWriteItems failed
		POST service-account/99/token | admin | NEW | 404 | create-service-account-token | PAT, UpdateItem 1w, TransactWriteItems failed
		GET service-account | admin | | 200 | list-service-accounts | PAT, 2 Scan 1r
		POST service-account | admin | {"username":"a","name":"a","rootRole":3} | 201 | create-service-account | PAT, UpdateItem 1w, TransactWriteItems 4w+2w+3w
		# the username exists
		POST service-account | admin | {"username":"A","name":"a","rootRole":3} | 409 | create-service-account | PAT, UpdateItem 1w, TransactWriteItems failed
		PUT service-account/5 | admin | {"rootRole":2} | 200 | update-service-account | PAT, GetItem 1r, TransactWriteItems 2w+3w, Query 1r
		DELETE service-account/5 | admin | | 200 | delete-service-account | PAT, GetItem 1r, TransactWriteItems 2w+3w, Query 1r, GetItem 1r, TransactWriteItems 4w+2w
		DELETE service-account/5 | admin | | 404 | delete-service-account | PAT, GetItem 1r
		GET metrics/traffic/2026-11 | admin | | 200 | get-traffic-usage | PAT, Query 1r
		# each of eight partitions
		GET search/events | admin | | 200 | search-events | PAT, 8 Query 1r
		GET search/events?feature=IS:g | viewer | | 200 | search-events | PAT, Query 0.5r
		# PAT; account
		DELETE user/tokens/4 | new | | 200 | delete-own-token | PAT, SEEN, GetItem 1r, TransactWriteItems 2w+2w+3w
		# the tokens, then their account
		GET service-account/4/token | admin | | 200 | list-service-account-tokens | PAT, Query 1r, GetItem 1r
		GET service-account/4/token/5 | admin | | 200 | get-service-account-token | PAT, BatchGetItem 1r+1r
		DELETE service-account/4/token/5 | admin | | 200 | delete-service-account-token | PAT, GetItem 1r, TransactWriteItems 2w+2w+3w
		GET user/tokens | viewer | | 200 | list-own-tokens | PAT, Query 1r
		POST user/tokens | viewer | NEW | 201 | create-own-token | PAT, UpdateItem 1w, TransactWriteItems 2w+2w+3w
		GET user | viewer | | 200 | get-own-user | PAT, GetItem 1r

		# A write that can change whether a toggle is potentially stale reads the lifetime, and checks it in the transaction.
		POST projects/p/features | editor | {"name":"h"} | 201 | create-feature | PAT, GetItem 1r, 4 Scan 0.5r, TransactWriteItems 3w+5w+2w, GetItem 1r, Scan 1r
		POST projects/p/features | editor | {"name":"h"} | 409 | create-feature | PAT, GetItem 1r, 4 Scan 0.5r, TransactWriteItems failed
		GET projects/p/features/h | viewer | | 200 | get-feature | PAT, 2 GetItem 1r, Scan 1r
		PUT projects/p/features/h | editor | {"description":"d"} | 200 | update-feature | PAT, GetItem 1r, TransactWriteItems 3w+3w, GetItem 1r, Scan 1r
		# the same
		PUT projects/p/features/h | editor | {"description":"d"} | 200 | update-feature | PAT, 2 GetItem 1r, Scan 1r
		GET projects/p/features | viewer | | 200 | list-features | PAT, 6 Scan 1r
		POST projects/p/stale | editor | {"features":["h"],"stale":true} | 202 | mark-features-stale | PAT, GetItem 1r, TransactWriteItems 3w+3w
		POST projects/p/stale | editor | {"features":["h"],"stale":false} | 202 | mark-features-stale | PAT, 2 GetItem 1r, TransactWriteItems 3w+3w+2w
		# The environment, then the toggle. Only the usage that becomes less is read.
		GET SWITCH | viewer | | 200 | get-feature-environment | PAT, 2 GetItem 1r
		POST SWITCH/on | editor | | 200 | turn-on-feature | PAT, 2 GetItem 1r, TransactWriteItems 3w+6w+2w
		POST SWITCH/on | editor | | 200 | turn-on-feature | PAT, 2 GetItem 1r
		POST SWITCH/strategies | editor | {"name":"default"} | 200 | create-strategy | PAT, 2 GetItem 1r, TransactWriteItems 3w+3w+2w
		GET SWITCH/strategies | viewer | | 200 | list-strategies | PAT, 2 GetItem 1r
		POST SWITCH/strategies/set-sort-order | editor | [] | 200 | order-strategies | PAT, 2 GetItem 1r
		GET strategies | viewer | | 200 | list-strategy-types | PAT
		POST SWITCHES/off | editor | {"features":["h"]} | 200 | turn-off-features | PAT, 2 GetItem 1r, BatchGetItem 1r, TransactWriteItems 3w+3w+2w
		POST SWITCHES/on | editor | {"features":["h"]} | 200 | turn-on-features | PAT, 2 GetItem 1r, TransactWriteItems 3w+3w+2w
		POST SWITCH/off | editor | | 200 | turn-off-feature | PAT, 2 GetItem 1r, BatchGetItem 1r, TransactWriteItems 3w+3w+2w
		# the toggle, four segments of the table, the type
		POST projects/p/features/h/clone | editor | {"name":"i"} | 201 | clone-feature | PAT, 2 GetItem 1r, 4 Scan 0.5r, TransactWriteItems 3w+5w+2w+2w, GetItem 1r, Scan 1r
		# The toggle, then the parent. Both are written.
		POST projects/p/features/h/dependencies | editor | {"feature":"i"} | 200 | add-dependency | PAT, 2 GetItem 1r, TransactWriteItems 6w+3w
		DELETE projects/p/features/h/dependencies/i | editor | | 200 | remove-dependency | PAT, 2 GetItem 1r, TransactWriteItems 6w+3w
		DELETE projects/p/features/h | editor | | 202 | archive-feature | PAT, GetItem 1r, TransactWriteItems 3w+3w
		DELETE projects/p/features/h | editor | | 202 | archive-feature | PAT, GetItem 1r
		POST archive/revive/old-banner | editor | | 200 | revive-feature | PAT, 2 GetItem 1r, TransactWriteItems 3w+6w+2w+2w
		DELETE archive/h | editor | | 200 | delete-feature | PAT, GetItem 1r, TransactWriteItems 2w+5w
		# four segments of the table, and two other tables
		POST playground/advanced | viewer | {"environments":["production"],"context":{}} | 200 | evaluate-features | PAT, 6 Scan 1r
		POST playground/strategy | viewer | {"name":"default","parameters":{},"context":{}} | 200 | evaluate-strategy | PAT
		POST playground/strategy | viewer | {"name":"default","parameters":{},"segments":[1],"context":{}} | 200 | evaluate-strategy | PAT, SEEN, Scan 1r
		GET search/features | viewer | | 200 | search-features | PAT, 6 Scan 1r
		GET search/features/counts?project=IS:shop | viewer | | 200 | count-features | PAT, 4 Scan 1r
		# the types and the environments, sixteen shards for each of five types, then the toggle of the page
		GET search/features?state=IS:potentially-stale&limit=1 | viewer | | 200 | search-features | PAT, 2 Scan 1r, 80 Query 0.5r, BatchGetItem 1r
		# of another user
		DELETE user/tokens/1 | viewer | | 404 | delete-own-token | PAT, GetItem 1r
	`)) {
		request := strings.Replace(row[0], " ", " /api/admin/", 1)
		t.Run(strings.Join(row[:4], " "), func(t *testing.T) {
			if !strings.HasPrefix(request, http.MethodGet) {
				s.clock.Add(1) // otherwise two functions issue the same id of an event
			}
			status, got := s.calls(t, request, row[1], row[2])
			assert.Equal(t, row[3]+": "+row[5], fmt.Sprint(status, ": ", strings.ReplaceAll(got, row[4]+" ", "")))
		})
	}
}

// A creation in a full account fails first, then reads the tokens and deletes the one that expired first.
func TestCallsInAFullAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fillWithExpired(t, 3)
	status, calls := s.calls(t, "POST /api/admin/user/tokens", "viewer", inAFullAccount)
	assert.Equal(t, "201 "+readPAT+", create-own-token UpdateItem 1w, create-own-token TransactWriteItems failed, "+
		"create-own-token Query 1r, create-own-token TransactWriteItems 4w+2w+6w", fmt.Sprint(status, " ", calls))
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
		"rootRole": dynamo.S(string(access.RoleAdmin)), "disabled": dynamo.Bool(false), user.AttributePATs: dynamo.M(tokens),
	}})
	assert.OK(t, err)
	s.tokens["hundredth"] = s.createToken(t, 7, time.Unix(s.clock.Load(), 0).Add(time.Hour))
	_, got := s.calls(t, "GET /api/admin/context", "hundredth", "")
	assert.Equal(t, readPAT+", "+seen+", list-context-fields Scan 1r", got)
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
	_, err := feature.NewStore(client, s.tables, eventlog.Discard(client, time.Now)).Create(t.Context(), toggle.Feature{
		Name: "banner", Project: "p", Type: "release", CreatedAt: time.Unix(s.clock.Load(), 0),
		ContextFields: []string{"large"},
	})
	assert.OK(t, err)
	s.clock.Add(1)
	status, calls := s.calls(t, "DELETE /api/admin/projects/p/features/banner", "editor", "")
	assert.Equal(t, "202: "+readPAT+", archive-feature GetItem 1r, archive-feature BatchGetItem 1r, "+
		"archive-feature TransactWriteItems 3w+3w+2w", fmt.Sprint(status, ": ", calls))
}

// A write of strategies costs two write units for each KB of the toggle, whose strategies are compressed, and one for its
// index entry; three for each KB of an event, which has the strategy as JSON; and two for the environment.
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
		{"POST " + state + "/strategies", `{"name":"default"}`, "create-strategy", "3w+3w+2w"},
		{"PUT " + strategy, `{"title":"All"}`, "update-strategy", "3w+3w+2w"},
		{"POST " + state + "/strategies/set-sort-order", `[{"id":"` + created.ID + `","sortOrder":7}]`, "order-strategies", "3w+3w+2w"},
		{"DELETE " + strategy, "", "delete-strategy", "3w+3w"},
	} {
		s.clock.Add(1) // otherwise two functions issue the same id of an event
		status, calls := s.calls(t, test.request, "editor", test.body)
		assert.Equal(t, "200: "+readPAT+", 2 FUNCTION GetItem 1r, FUNCTION TransactWriteItems "+test.want,
			strings.ReplaceAll(fmt.Sprint(status, ": ", calls), test.function, "FUNCTION"))
	}
	// The event has 5 KB. A context field that is named is read, checked and counted.
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
	assert.Equal(t, "200: "+readPAT+", 2 create-strategy GetItem 1r, create-strategy BatchGetItem 1r, "+
		"create-strategy TransactWriteItems 3w+15w+4w+2w", fmt.Sprint(status, ": ", calls))
	// Two toggles, of which the first has two KB now, and the events of a strategy and of the switch of each.
	status, _ = s.send(t, "POST /api/admin/projects/shop/features", "editor", `{"name":"second"}`)
	assert.Equal(t, 201, status)
	s.clock.Add(1)
	status, calls = s.calls(t, "POST /api/admin/projects/shop/bulk_features/environments/development/on", "editor",
		`{"features":["new-checkout","second"]}`)
	assert.Equal(t, "200: "+readPAT+", turn-on-features GetItem 1r, turn-on-features BatchGetItem 2r, "+
		"turn-on-features TransactWriteItems 8w+12w+2w", fmt.Sprint(status, ": ", calls))
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
