package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
)

// The tables of WithTables have the credentials of local.json, of an earlier run too.
func TestWithTables(t *testing.T) {
	t.Parallel()
	config := local.Config{
		Template: localtest.Template(t), DataDir: filepath.Join(t.TempDir(), "data"), Port: 4321,
		DynamoDBEndpoint: enginetest.Endpoint(t),
	}
	var runs []local.Running
	for range 2 {
		assert.OK(t, local.WithTables(t.Context(), config, func(_ context.Context, r *local.Running) error {
			content, err := os.ReadFile(filepath.Join(config.DataDir, "local.json"))
			assert.OK(t, err)
			var written local.Running
			assert.OK(t, json.Unmarshal(content, &written))
			assert.Equal(t, *r, written)
			runs = append(runs, written)
			return nil
		}))
	}
	assert.Equal(t, runs[0], runs[1])
	if runs[0].BaseURL != "http://127.0.0.1:4321" || runs[0].DynamoDBEndpoint != config.DynamoDBEndpoint {
		t.Errorf("local.json has the URLs %s and %s", runs[0].BaseURL, runs[0].DynamoDBEndpoint)
	}
	config.Port = 0
	service := localtest.Start(t, config)
	if status, body := send(t, service, http.MethodGet, "/api/admin/feature-types", runs[0].APIToken, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// The end of use is the end of the engine, and the error is the one of use.
func TestWithTablesEnds(t *testing.T) {
	t.Parallel()
	enginetest.Program(t) // skips the test if the engine is not its own
	want := errors.New("no API")
	config := local.Config{Template: localtest.Template(t), EngineHost: "127.0.0.2"}
	var endpoint string
	err := local.WithTables(t.Context(), config, func(_ context.Context, r *local.Running) error {
		endpoint = r.DynamoDBEndpoint
		return want
	})
	if !errors.Is(err, want) || !strings.HasPrefix(endpoint, "http://127.0.0.2:") {
		t.Errorf("%v at %q", err, endpoint)
	}
	config.DynamoDBEndpoint = endpoint
	err = local.WithTables(t.Context(), config, func(context.Context, *local.Running) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the engine still runs: %v", err)
	}
}
