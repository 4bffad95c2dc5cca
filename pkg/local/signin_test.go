package local_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// A web page whose name leads to this machine must not read responses.
func TestHosts(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{})
	for _, host := range []string{"localhost", "LOCALHOST:3000", "localhost.", "toggles.localhost:80", "127.0.0.1",
		"127.1.2.3:1", "[::1]", "[::1]:3000"} {
		if status := get(t, service, host); status != http.StatusOK {
			t.Errorf("%s: %d, want 200", host, status)
		}
	}
	for _, host := range []string{"example.com", "example.com:3000", "localhost.example.com", "127.0.0.1.example.com",
		"10.0.0.1", "0.0.0.0", "xlocalhost", "[fe80::1]"} {
		if status := get(t, service, host); status != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", host, status)
		}
	}
}

// get reads the feature types with a Host header.
func get(t *testing.T, service local.Running, host string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.BaseURL+"/api/admin/feature-types",
		http.NoBody)
	assert.OK(t, err)
	request.Host = host
	request.Header.Set("Authorization", service.APIToken)
	response, err := http.DefaultClient.Do(request)
	assert.OK(t, err)
	response.Body.Close()
	return response.StatusCode
}

// The code of the printed URL works once, and for ten minutes.
func TestSignIn(t *testing.T) {
	t.Parallel()
	begin, ahead := time.Now(), atomic.Int64{}
	for _, tt := range []struct {
		wait   time.Duration
		status int
	}{{9 * time.Minute, 200}, {10 * time.Minute, 401}} {
		ahead.Store(0)
		var stdout process.Output
		service := localtest.Start(t, local.Config{
			DataDir: t.TempDir(), Stdout: &stdout, Now: func() time.Time { return begin.Add(time.Duration(ahead.Load())) },
		})
		found := regexp.MustCompile(`#code=(\S+)`).FindStringSubmatch(stdout.String())
		if found == nil {
			t.Fatal(stdout.String())
		}
		ahead.Store(int64(tt.wait))
		for _, step := range []struct {
			body   string
			status int
		}{
			{`{"code":"` + found[1] + `x"}`, 401}, {`{}`, 401}, {`"`, 401}, {`{"code":"` + found[1] + `"}`, tt.status},
			{`{"code":"` + found[1] + `"}`, 401},
		} {
			status, body := send(t, service, http.MethodPost, "/local/sign-in", "", step.body)
			if status != step.status || strings.Contains(body, service.Users[0].PAT) != (status == http.StatusOK) {
				t.Errorf("after %s, %s: %d %s", tt.wait, step.body, status, body)
			}
		}
	}
}

// The admin's token, and no other one, gets a new code, which replaces the printed one.
func TestNewSignInCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stdout process.Output
	service := localtest.Start(t, local.Config{DataDir: dir, Stdout: &stdout})
	printed := regexp.MustCompile(`#code=(\S+)`).FindStringSubmatch(stdout.String())
	for _, token := range []string{"", service.APIToken, service.Users[1].PAT} {
		if status, body := send(t, service, http.MethodPost, "/local/sign-in-codes", token, ""); status != 401 {
			t.Errorf("token %q: %d %s", token, status, body)
		}
	}
	i, err := installation.OpenLocal(t.Context(), dir)
	assert.OK(t, err)
	address, err := i.ConsoleURL(t.Context())
	assert.OK(t, err)
	code, found := strings.CutPrefix(address, service.BaseURL+"/console/#code=")
	if !found || len(printed) != 2 {
		t.Fatalf("address %q, printed %q", address, stdout.String())
	}
	for _, step := range []struct {
		code   string
		status int
	}{{printed[1], 401}, {code, 200}, {code, 401}} {
		status, _ := send(t, service, http.MethodPost, "/local/sign-in", "", `{"code":"`+step.code+`"}`)
		if status != step.status {
			t.Errorf("code %s: %d, want %d", step.code, status, step.status)
		}
	}
}

// A service whose admin is disabled or deleted starts, without a code.
func TestStartWithoutAdmin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	service, stop := localtest.StartStop(t, local.Config{DataDir: dir})
	for _, change := range []func(*user.Store) error{
		func(s *user.Store) error { return s.SetDisabled(t.Context(), 1, true, true) },
		func(s *user.Store) error {
			_, err := s.BeginDeletion(t.Context(), user.Person, 1, nil)
			return err
		},
	} {
		client, tables := database(t, service)
		assert.OK(t, change(user.NewStore(client, tables, eventlog.New(client, tables, time.Now, 0))))
		stop()
		var stdout process.Output
		service, stop = localtest.StartStop(t, local.Config{DataDir: dir, Stdout: &stdout})
		if want := "ready " + service.BaseURL + "\n\n  Console: " + service.BaseURL +
			"/console/\n  Applications: " + service.ClientURL + "\n\n"; stdout.String() != want {
			t.Errorf("stdout %q", stdout.String())
		}
		if status, body := send(t, service, http.MethodPost, "/local/sign-in", "",
			`{"code":""}`); status != http.StatusUnauthorized {
			t.Errorf("%d %s", status, body)
		}
	}
	stop()
}

// database returns a client for the tables of a service.
func database(t *testing.T, service local.Running) (*dynamodb.Client, dynamo.Tables) {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(service.DynamoDBEndpoint),
	}, service.DynamoDBEndpoint)
	assert.OK(t, err)
	return client, service.Tables
}
