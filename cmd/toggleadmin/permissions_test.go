package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"toggleadmin/test/helper/assert"
)

// actions records the actions of DynamoDB that toggleadmin uses, as IAM names them. It is safe for concurrent use.
type actions struct {
	mu   sync.Mutex
	used map[string]bool
}

// observe makes toggleadmin call the engine of the data folder by a proxy that records the calls, which it returns.
func (a *actions) observe(t *testing.T, data string) *httptest.Server {
	t.Helper()
	file := filepath.Join(data, "local.json")
	content, err := os.ReadFile(file)
	assert.OK(t, err)
	var settings struct{ DynamoDBEndpoint string }
	assert.OK(t, json.Unmarshal(content, &settings))
	engine, err := url.Parse(settings.DynamoDBEndpoint)
	assert.OK(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		a.record(r.Out)
		r.SetURL(engine)
	}})
	assert.OK(t, os.WriteFile(file, bytes.ReplaceAll(content, []byte(settings.DynamoDBEndpoint), []byte(proxy.URL)), 0o600))
	return proxy
}

func (a *actions) record(r *http.Request) {
	body, _ := io.ReadAll(r.Body) // an incomplete body is an error of the engine
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var transaction struct{ TransactItems []map[string]any }
	_ = json.Unmarshal(body, &transaction)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(transaction.TransactItems) == 0 {
		a.used[operation] = true
	}
	for _, item := range transaction.TransactItems {
		for kind := range item { // IAM checks the items of a transaction
			a.used[strings.TrimSuffix(kind, "Item")+"Item"] = true
		}
	}
}

// compare compares the actions with those that docs/toggleadmin.md lists.
func (a *actions) compare(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("../../docs/toggleadmin.md")
	assert.OK(t, err)
	row := regexp.MustCompile(`(?m)^\| other commands \| (.*) \|$`).FindSubmatch(page)
	if row == nil {
		t.Fatal("docs/toggleadmin.md has no row with the permissions of the other commands")
	}
	delete(a.used, "CreateTable")       // the scripts' copies of tables
	a.used["ConditionCheckItem"] = true // the first `users add` after `init`, which no script of a local service runs
	assert.Equal(t, strings.Split(string(row[1]), ", "), slices.Sorted(maps.Keys(a.used)))
}
