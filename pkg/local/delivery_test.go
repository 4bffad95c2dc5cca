package local_test

import (
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// request sends a request and returns the status and the body of the response.
func request(t *testing.T, method, url, credential, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	assert.OK(t, err)
	r.Header.Set("Authorization", credential)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	assert.OK(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	assert.OK(t, err)
	return response.StatusCode, string(text)
}

// The function URL serves only requests with the origin secret, and takes the caller's address from a trusted proxy.
func TestProxy(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	service := localtest.Start(t, local.Config{
		DataDir: t.TempDir(), TrustedProxies: "127.0.0.0/8", ClientOriginSecret: secret,
	})
	admin := service.Users[0].PAT
	const toggles = "/api/admin/projects/default/features"
	const strategy = `{"name":"remoteAddress","parameters":{"IPs":"203.0.113.0/24"}}`
	for _, step := range []struct{ path, body string }{
		{toggles, `{"name":"office","type":"release"}`},
		{toggles + "/office/environments/development/strategies", strategy},
		{toggles + "/office/environments/development/on", ""},
	} {
		if status, text := request(t, "POST", service.BaseURL+step.path, admin, step.body); status >= http.StatusBadRequest {
			t.Fatal(step.path, status, text)
		}
	}
	var token string
	for _, t := range service.ClientTokens {
		if t.Type == clienttokentable.Frontend && t.Environment == "development" {
			token = t.Secret
		}
	}
	poll := func(secret, forwarded string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.ClientURL+"/api/frontend", http.NoBody)
		assert.OK(t, err)
		r.Header = http.Header{"Authorization": {token}, "X-Origin-Secret": {secret}, "X-Forwarded-For": {forwarded}}
		response, err := http.DefaultClient.Do(r)
		assert.OK(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		assert.OK(t, err)
		return response.StatusCode, string(text)
	}
	process.Await(t, "the office does not see the toggle", 20*time.Millisecond, time.Minute, func() bool {
		_, text := poll(secret, "198.51.100.1, 203.0.113.7")
		return strings.Contains(text, `"office"`)
	})
	_, text := poll(secret, "203.0.113.7, 198.51.100.1")
	assert.Equal(t, `{"toggles":[]}`, text)
	status, _ := poll(secret+"x", "203.0.113.7")
	assert.Equal(t, http.StatusForbidden, status)
}

// An application sees at the function URL what a person changes through the API.
func TestAChangeReachesApplications(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DynamoDBEndpoint: enginetest.Endpoint(t)})
	client, tables := database(t, service)
	token, secret, err := clienttokentable.New(clienttokentable.Token{
		Name: "app", Type: clienttokentable.Backend, Environment: "production", CreatedAt: time.Now(),
	}, rand.Reader)
	assert.OK(t, err)
	table := tables[clienttokentable.Table]
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: clienttokentable.Marshal(token)})
	assert.OK(t, err)
	admin := service.Users[0].PAT
	const toggles = "/api/admin/projects/default/features"
	status, text := request(t, "POST", service.BaseURL+toggles, admin, `{"name":"checkout","type":"release"}`)
	if status != http.StatusCreated {
		t.Fatal(status, text)
	}
	status, text = request(t, "POST", service.BaseURL+toggles+"/checkout/environments/production/on", admin, "")
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	process.Await(t, "the application does not see the toggle", 20*time.Millisecond, time.Minute, func() bool {
		_, text := request(t, "GET", service.ClientURL+"/api/client/features", secret.Reveal(), "")
		return strings.Contains(text, `"name":"checkout","type":"release","enabled":true`)
	})
}
