package main_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/test/localtest"
)

func write(tb testing.TB, path, content string) string {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestBadSettings(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(localtest.Template(t))
	if err != nil {
		t.Fatal(err)
	}
	file, elsewhere := write(t, filepath.Join(t.TempDir(), "file"), "["),
		write(t, filepath.Join(t.TempDir(), "template.yaml"), string(content))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	_, used, _ := net.SplitHostPort(listener.Addr().String())
	for _, tt := range []struct {
		name    string
		setting string // a flag, or variables
		status  int
		want    string
	}{
		{"unknown flag", "--prot=3000", 2, "unknown flag --prot"},
		{"PORT is not a number", "PORT=http", 2,
			`local: PORT "http" is not a port: choose one from 1 to 65535, or 0 for a free one` + "\n"},
		{"PORT is out of range", "PORT=70000", 2,
			`local: PORT "70000" is not a port: choose one from 1 to 65535, or 0 for a free one` + "\n"},
		{"PORT is in use", "PORT=" + used, 1, "PORT " + used + " is in use: stop the process"},
		{"DATA_DIR is empty", "DATA_DIR=", 2, "DATA_DIR is empty"},
		{"DATA_DIR is a file", "DATA_DIR=" + file, 1, "cannot be created, choose another folder"},
		{"DATA_DIR cannot be written", "DATA_DIR=/proc/self", 1, "cannot be written, choose another folder"},
		{"DYNAMODB_ENDPOINT is not a URL", "DYNAMODB_ENDPOINT=localhost", 1, "use one such as http://127.0.0.1:8000"},
		{
			"DYNAMODB_ENDPOINT does not respond", "DYNAMODB_ENDPOINT=http://127.0.0.1:1", 1,
			"check that an engine runs there: dial tcp 127.0.0.1:1: connect: connection refused\n",
		},
		{
			"DYNAMODB_ENDPOINT is another service", "DYNAMODB_ENDPOINT=" + other.URL, 1,
			"DYNAMODB_ENDPOINT " + other.URL + " does not respond as DynamoDB: check that an engine runs there\n",
		},
		{"WEBHOOK_URL is not a URL", "WEBHOOK_URL=localhost:8080/key", 1,
			"WEBHOOK_URL cannot be used: the URL must begin with https://"},
		{"WEBHOOK_URL contains a space", "WEBHOOK_URL=https://example.com/a b", 1,
			"WEBHOOK_URL cannot be used: it contains white space\n"},
		{
			"WEBHOOK_EVENTS has another type", "WEBHOOK_URL=http://127.0.0.1:1\nWEBHOOK_EVENTS=pat-created,pat-creatd", 1,
			`WEBHOOK_EVENTS "pat-creatd" is not a type of event: use * for all, or types separated by commas: api-token-created api-token-deleted `,
		},
		{"WEBHOOK_EVENTS without a webhook", "WEBHOOK_EVENTS=*", 1, "WEBHOOK_EVENTS is set without WEBHOOK_URL"},
		{"OIDC_ISSUER without a client", "OIDC_ISSUER=https://issuer.example.com", 1,
			"OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"OIDC_CLIENT_ID without an issuer", "OIDC_CLIENT_ID=console", 1, "OIDC_ISSUER and OIDC_CLIENT_ID must both be set"},
		{"OIDC_ISSUER is not https", "OIDC_ISSUER=http://issuer.example.com", 1,
			"OIDC_ISSUER is \"http://issuer.example.com\": it must begin with https://"},
		{"OIDC_DEFAULT_ROLE is not a role", "OIDC_DEFAULT_ROLE=admin", 1,
			`OIDC_DEFAULT_ROLE "admin" is not a role: use Viewer, Editor or Admin`},
		{"OIDC_DEFAULT_ROLE without an issuer", "OIDC_DEFAULT_ROLE=Admin", 1, "OIDC_DEFAULT_ROLE is set without OIDC_ISSUER"},
		{"TEMPLATE does not exist", "TEMPLATE=/nowhere/template.yaml", 1, "TEMPLATE /nowhere/template.yaml does not exist"},
		{"TEMPLATE is not YAML", "TEMPLATE=" + file, 1, "cannot be used, correct it: "},
		{"no engine at the template", "TEMPLATE=" + elsewhere, 1, "the engine is not installed: run scripts/engine.sh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t)
			dir := filepath.Join(t.TempDir(), "data")
			cmd.Env = append(cmd.Env, "PORT=0", "DATA_DIR="+dir)
			if strings.HasPrefix(tt.setting, "--") {
				cmd.Args = append(cmd.Args, tt.setting)
			} else {
				cmd.Env = append(cmd.Env, strings.Split(tt.setting, "\n")...)
			}
			refused(t, cmd, tt.status, tt.want)
			if _, err := os.Stat(dir); err == nil {
				t.Error("the data folder was created")
			}
		})
	}
}

func TestSecondInstance(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	refused(t, command(t, "--data-dir="+p.dir, "--port=0"), 1,
		"DATA_DIR "+p.dir+" is locked: another instance, process "+strconv.Itoa(p.Process.Pid)+", uses it: stop that one")
	p.list(t)
}

func TestDamagedData(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	p.stop(t)
	path := filepath.Join(p.dir, "dynamodb.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const schema = 20480
	// the engine starts, and every call fails
	write(t, path, string(data[:schema])+strings.Repeat("\xa5", len(data)-schema))
	refused(t, command(t, "--data-dir="+p.dir, "--port=0"), 1, "`make reset` deletes the data in "+p.dir)
}
