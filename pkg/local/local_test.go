package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/process"
)

// send gives status and body of one request.
func send(tb testing.TB, service local.Running, method, path, token, body string) (int, string) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, service.BaseURL+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

const createToken = `{"description":"ci token","expiresAt":"2199-01-01T00:00:00Z"}`

func TestAllOperationsAnswer(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{})
	admin := service.Users[0].PAT
	status, created := send(t, service, "POST", "/api/admin/service-account/4/token", admin, createToken)
	var token struct {
		ID     json.Number `json:"id"`
		Secret string      `json:"secret"`
	}
	if err := json.Unmarshal([]byte(created), &token); status != http.StatusCreated || err != nil {
		t.Fatalf("%d %s", status, created)
	}
	for _, tt := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"PUT", "/api/admin/feedback/first-steps", admin, `{"neverShow":true}`, 200},
		{"GET", "/api/admin/feature-types", service.APIToken, "", 200},
		{"PUT", "/api/admin/feature-types/release/lifetime", service.APIToken, `{"lifetimeDays":7}`, 200},
		{"GET", "/api/admin/context", service.Users[2].PAT, "", 200},
		{"GET", "/api/admin/metrics/traffic/2026-11", admin, "", 200},
		{"GET", "/api/admin/metrics/traffic/2026-11", service.Users[1].PAT, "", 403},
		{"DELETE", "/api/admin/user/tokens/" + token.ID.String(), token.Secret, "", 200},
		{"GET", "/api/admin/context", token.Secret, "", 401},
		{"GET", "/api/admin/context", "", "", 401},
		{"GET", "/api/admin/nothing", "", "", 404},
	} {
		if status, body := send(t, service, tt.method, tt.path, tt.token, tt.body); status != tt.want {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, status, body)
		}
	}
}

func TestLocalJSONIsWhatRunningSays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	var stdout process.Output
	service := localtest.Start(t, local.Config{DataDir: dir, Stdout: &stdout})
	file := filepath.Join(dir, "local.json")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var written local.Running
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&written); err != nil {
		t.Fatal(err)
	}
	service.EnginePID = 0
	if diff := cmp.Diff(service, written); diff != "" {
		t.Error(diff)
	}
	if len(written.DynamoDB.Tables) != 8 || len(written.Users) != 3 || len(written.ServiceAccounts) != 1 {
		t.Errorf("%s", content)
	}
	if out := stdout.String(); !strings.HasPrefix(out, "ready "+service.BaseURL+"\n") || strings.Contains(out, "v2_") {
		t.Errorf("stdout %q", out)
	}
}

func TestARestartKeepsDataAndCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, stop := localtest.StartStop(t, local.Config{DataDir: dir})
	if status, body := send(t, first, "PUT", "/api/admin/feature-types/release/lifetime", first.APIToken, `{"lifetimeDays":99}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	stop()
	var stderr process.Output
	second, stop := localtest.StartStop(t, local.Config{DataDir: dir, Stderr: &stderr})
	if diff := cmp.Diff(first.Credentials, second.Credentials); diff != "" {
		t.Error(diff)
	}
	if _, body := send(t, second, "GET", "/api/admin/feature-types", first.Users[0].PAT, ""); !strings.Contains(body, `"lifetimeDays":99`) {
		t.Errorf("the lifetime is gone: %s", body)
	}
	stop()
	if strings.Contains(stderr.String(), "credentials") {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestLostCredentialsAreMadeAnew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lose func(file string) error
	}{
		{"gone", os.Remove},
		{"empty", func(file string) error { return os.Truncate(file, 0) }},
		{"garbage", func(file string) error { return os.WriteFile(file, []byte("{\"users\": 7"), 0o600) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first, stop := localtest.StartStop(t, local.Config{DataDir: dir})
			stop()
			if err := tt.lose(filepath.Join(dir, "local.json")); err != nil {
				t.Fatal(err)
			}
			var stderr process.Output
			second := localtest.Start(t, local.Config{DataDir: dir, Stderr: &stderr})
			if got := strings.Count(stderr.String(), "new ones are made, the old ones revoked"); got != 1 {
				t.Errorf("stderr %q", stderr.String())
			}
			for _, old := range []string{first.APIToken, first.Users[0].PAT, first.Users[1].PAT, first.Users[2].PAT} {
				if status, _ := send(t, second, "GET", "/api/admin/context", old, ""); status != 401 {
					t.Errorf("an old credential gets %d", status)
				}
			}
			if status, _ := send(t, second, "GET", "/api/admin/context", second.Users[2].PAT, ""); status != 200 {
				t.Errorf("a new credential gets %d", status)
			}
		})
	}
}

func TestARunningEngineIsUsedAndLeftAlone(t *testing.T) {
	t.Parallel()
	host := localtest.Start(t, local.Config{})
	guest, stop := localtest.StartStop(t, local.Config{DynamoDBEndpoint: host.DynamoDB.Endpoint})
	// The seed is there already; its credentials are the host's, so the guest makes new ones.
	if status, body := send(t, guest, "PUT", "/api/admin/feature-types/release/lifetime", guest.APIToken, `{"lifetimeDays":5}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	stop()
	if status, _ := send(t, host, "GET", "/api/admin/context", guest.Users[0].PAT, ""); status != 200 {
		t.Errorf("after the guest has gone: %d", status)
	}
}

func TestCallsOfDynamoDBAreTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []local.Call
	service := localtest.Start(t, local.Config{RequestsOnly: true, OnDynamoDB: func(c local.Call) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, c)
	}})
	send(t, service, "POST", "/api/admin/service-account/4/token", service.APIToken, createToken)
	send(t, service, "POST", "/api/admin/service-account/4/token", service.APIToken, createToken) // again: refused
	send(t, service, "GET", "/api/admin/feature-types", service.Users[0].PAT, "")
	mu.Lock()
	defer mu.Unlock()
	got := make([]local.Call, 0, len(calls))
	for _, c := range calls {
		if c.Attempts != 1 || (c.Err != nil && c.API != "TransactWriteItems") {
			t.Errorf("%d attempts, %v", c.Attempts, c.Err)
		}
		slices.SortFunc(c.Accesses, func(a, b local.Access) int { return strings.Compare(a.Action+a.Table, b.Action+b.Table) })
		c.Attempts = 0
		got = append(got, c)
	}
	const (
		pats, users = "PersonalAccessTokens", "Users"
		create      = "create-service-account-token"
	)
	apiToken := local.Call{Function: "authorizer", API: "GetItem", Accesses: []local.Access{{Action: "dynamodb:GetItem", Table: "ApiTokens", ReadUnits: 1}}}
	transaction := func(patUnits, userUnits float64, err error) local.Call {
		return local.Call{Function: create, API: "TransactWriteItems", Err: err, Accesses: []local.Access{
			{Action: "dynamodb:PutItem", Table: pats},
			{Action: "dynamodb:UpdateItem", Table: pats, WriteUnits: patUnits},
			{Action: "dynamodb:UpdateItem", Table: users, WriteUnits: userUnits},
		}}
	}
	patUnits := 4.0 // two for each of two items
	if enginetest.DynamoDBLocal() {
		patUnits = 2 // it reports the units of one
	}
	counter := local.Call{Function: create, API: "GetItem", Accesses: []local.Access{{Action: "dynamodb:GetItem", Table: pats, ReadUnits: 1}}}
	want := []local.Call{
		apiToken, counter, transaction(patUnits, 2, nil),
		apiToken, counter, transaction(0, 0, errors.New("canceled")), counter,
		{Function: "authorizer", API: "BatchGetItem", Accesses: []local.Access{
			{Action: "dynamodb:BatchGetItem", Table: pats, ReadUnits: 1}, {Action: "dynamodb:BatchGetItem", Table: users, ReadUnits: 1},
		}},
		{Function: "authorizer", API: "UpdateItem", Accesses: []local.Access{{Action: "dynamodb:UpdateItem", Table: pats, WriteUnits: 1}}},
		{Function: "list-feature-types", API: "Scan", Accesses: []local.Access{{Action: "dynamodb:Scan", Table: "FeatureTypes", ReadUnits: 1}}},
	}
	sameKind := cmp.Comparer(func(a, b error) bool { return (a == nil) == (b == nil) })
	if diff := cmp.Diff(want, got, sameKind); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsAreShownWithTheirCause(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("the wire is broken")
	var stderr process.Output
	service := localtest.Start(t, local.Config{
		Stderr: &stderr, Terminal: true, RequestsOnly: true,
		APIOptions: []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Break", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				switch in.Parameters.(type) {
				case *dynamodb.ScanInput, *dynamodb.GetItemInput:
					return middleware.InitializeOutput{}, middleware.Metadata{}, errBroken
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
		}},
	})
	if status, body := send(t, service, "GET", "/api/admin/context", service.Users[0].PAT, ""); status != 503 || strings.Contains(body, "wire") {
		t.Errorf("a function: %d %s", status, body)
	}
	if status, body := send(t, service, "GET", "/api/admin/context", service.APIToken, ""); status != 500 || strings.Contains(body, "wire") {
		t.Errorf("the authorizer: %d %s", status, body)
	}
	lines := strings.Split(stderr.String(), "\n")
	if enginetest.DynamoDBLocal() {
		lines = lines[1:] // its warning
	}
	if len(lines) < 7 || !strings.Contains(lines[0], " 503 list-context-fields ") || !strings.Contains(lines[1], "ServiceUnavailable") ||
		!strings.Contains(lines[2], "the wire is broken") || !strings.Contains(lines[3], " 500 list-context-fields ") ||
		!strings.Contains(lines[6], "the wire is broken") {
		t.Errorf("stderr:\n%s", stderr.String())
	}
}
