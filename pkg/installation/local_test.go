package installation_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/samtemplate"
)

// open opens a local service whose local.json names these tables.
func open(t *testing.T, tables map[string]string) (*installation.Installation, error) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	content, err := json.Marshal(map[string]any{
		"baseUrl": server.URL, "dynamodb": map[string]any{"endpoint": server.URL, "tables": tables},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "local.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return installation.OpenLocal(t.Context(), dir)
}

// TestLocalMatchesTemplate checks that the required tables and the limit of tokens are those of the template.
func TestLocalMatchesTemplate(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for _, table := range template.Tables {
		tables[table.LogicalID] = table.Name
	}
	opened, err := open(t, tables)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dynamo.TablesByID(tables), opened.Tables); diff != "" {
		t.Error(diff)
	}
	limits := 0
	for _, function := range template.Functions {
		text, ok := function.Environment["MAX_TOKENS_PER_ACCOUNT"]
		if !ok {
			continue
		}
		limits++
		if limit, err := pat.ParseLimit(text); err != nil || limit != opened.TokenLimit {
			t.Errorf("the limit of tokens is %d, the template's %s (%v)", opened.TokenLimit, text, err)
		}
	}
	if limits == 0 {
		t.Error("no function of the template has a limit of tokens")
	}
	for id := range tables {
		without := maps.Clone(tables)
		delete(without, id)
		if _, err := open(t, without); exitstatus.Of(err) != exitstatus.Unreachable || !strings.Contains(err.Error(), "does not name the table "+id+":") {
			t.Errorf("without %s: %v", id, err)
		}
	}
}
