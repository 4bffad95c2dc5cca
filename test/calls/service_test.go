package calls_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/pkg/user"
	"toggleadmin/test/meter"
)

// service is one that counts, with the accounts that the tests need.
type service struct {
	local.Running
	client *dynamodb.Client
	tokens map[string]string // by name
	ids    map[string]string // of tokens, as {name} in a request
	clock  *atomic.Int64     // Unix seconds

	mu    sync.Mutex
	calls []meter.Call
}

// start starts a service with an expired PAT, one of a disabled user, one that was never used, and the account 5 with all the tokens that
// it may have. Every other PAT has just been seen.
func start(t *testing.T) *service {
	t.Helper()
	s := &service{tokens: map[string]string{}, ids: map[string]string{}, clock: new(atomic.Int64)}
	s.clock.Store(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).Unix())
	s.Running = localtest.Start(t, local.Config{
		APIOptions: meter.Options(s.record), Now: func() time.Time { return time.Unix(s.clock.Load(), 0) }, RequestsOnly: true,
	})
	var err error
	s.client, err = dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(s.DynamoDB.Endpoint),
	}, s.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	s.tokens["api-token"] = s.APIToken
	for _, u := range s.Users {
		s.tokens[u.Name] = u.PAT
	}
	users := user.NewStore(s.client, dynamo.TablesByID(s.DynamoDB.Tables))
	for _, id := range []int64{5, 6} {
		if err := users.Create(t.Context(), user.User{ID: id, Kind: user.ServiceAccount, Name: "calls", Role: auth.RoleEditor}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		s.create(t, fmt.Sprint("full", i), 5, time.Hour)
	}
	s.create(t, "fresh", 4, time.Hour)
	s.create(t, "expired", 4, time.Second)
	s.create(t, "disabled", 6, time.Hour)
	if err := users.SetDisabled(t.Context(), 6, true); err != nil {
		t.Fatal(err)
	}
	s.clock.Add(2)
	s.putTraffic(t, "2025-05")
	for _, u := range s.Users {
		s.count(t, "GET /api/admin/context", u.Name, "", "")
	}
	return s
}

// create makes a token for a service account and keeps it under the name.
func (s *service) create(t *testing.T, name string, account int64, validity time.Duration) {
	t.Helper()
	expiresAt := time.Unix(s.clock.Load(), 0).Add(validity).UTC().Format(time.RFC3339)
	status, body := s.send(t, fmt.Sprintf("POST /api/admin/service-account/%d/token", account), "api-token",
		fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, name, expiresAt), "")
	var created struct {
		ID     int64
		Secret string
	}
	if err := json.Unmarshal(body, &created); status != http.StatusCreated || err != nil {
		t.Fatalf("%d %s", status, body)
	}
	s.tokens[name], s.ids[name] = created.Secret, strconv.FormatInt(created.ID, 10)
}

// putTraffic stores one item of usage.
func (s *service) putTraffic(t *testing.T, period string) {
	t.Helper()
	item := dynamo.Item{
		"period": dynamo.S(period), "pathDayShard": dynamo.S("/api/admin/context#" + period + "-01#0"), "successfulRequests": dynamo.N(7),
	}
	if err := dynamo.PutNew(t.Context(), s.client, s.DynamoDB.Tables["Traffic"], "period", item); err != nil {
		t.Fatal(err)
	}
}

func (s *service) record(call meter.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// count sends one request and gives the calls that it made: "function API units".
func (s *service) count(t *testing.T, request, as, body, contentType string) (status int, calls []string) {
	t.Helper()
	s.mu.Lock()
	s.calls = nil
	s.mu.Unlock()
	status, _ = s.send(t, request, as, body, contentType)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		if call.Attempts != 1 {
			t.Errorf("%s %s took %d attempts", call.Function, call.API, call.Attempts)
		}
		calls = append(calls, call.Function+" "+call.API+" "+units(call))
	}
	return status, calls
}

// units writes what a call consumed, table by table in the order of its accesses: 1r+1r, 4w+2w.
func units(call meter.Call) string {
	if call.Err != nil {
		return "failed"
	}
	var all []string
	for _, a := range call.Accesses {
		if a.ReadUnits != 0 {
			all = append(all, fmt.Sprint(a.ReadUnits, "r"))
		}
		if a.WriteUnits != 0 {
			all = append(all, fmt.Sprint(a.WriteUnits, "w"))
		}
	}
	return strings.Join(all, "+")
}

func (s *service) send(t *testing.T, request, as, body, contentType string) (status int, answer []byte) {
	t.Helper()
	for name, id := range s.ids {
		request = strings.ReplaceAll(request, "{"+name+"}", id)
	}
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if credential := s.credential(as); credential != "" {
		r.Header.Set("Authorization", credential)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

// credential gives the token of a name, with a changed secret where it is spoilt; anything else is a credential itself.
func (s *service) credential(as string) string {
	if as == "none" {
		return ""
	}
	if token, known := s.tokens[as]; known {
		return token
	}
	if name, spoilt := strings.CutSuffix(as, " spoilt"); spoilt {
		token := s.tokens[name]
		return token[:len(token)-43] + strings.Repeat("A", 43)
	}
	return as
}
