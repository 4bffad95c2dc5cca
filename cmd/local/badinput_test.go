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

	"toggleadmin/test/assert"
	"toggleadmin/test/localtest"
	"toggleadmin/test/table"
)

func write(tb testing.TB, path, content string) string {
	tb.Helper()
	assert.OK(tb, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestBadSettings(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(localtest.Template(t))
	assert.OK(t, err)
	file, elsewhere := write(t, filepath.Join(t.TempDir(), "file"), "["),
		write(t, filepath.Join(t.TempDir(), "template.yaml"), string(content))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	assert.OK(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	_, used, _ := net.SplitHostPort(listener.Addr().String())
	for _, row := range table.Rows(t, 3, strings.NewReplacer("FILE", file, "ELSEWHERE", elsewhere, "USED", used, "OTHER",
		other.URL, "NOT-A-PORT", "is not a port: choose one from 1 to 65535, or 0 for a free one").Replace(`
		# a flag, or variables | status | part of the message
		--prot=3000 | 2 | unknown flag --prot
		PORT=http | 2 | "local: PORT \"http\" NOT-A-PORT\n"
		PORT=70000 | 2 | "local: PORT \"70000\" NOT-A-PORT\n"
		PORT=USED | 1 | PORT USED is in use: stop the process
		DATA_DIR= | 2 | DATA_DIR is empty
		DATA_DIR=FILE | 1 | cannot be created, choose another folder
		DATA_DIR=/proc/self | 1 | cannot be written, choose another folder
		DYNAMODB_ENDPOINT=localhost | 1 | must be a URL such as http://127.0.0.1:8000
		DYNAMODB_ENDPOINT=http://127.0.0.1:1 | 1 | "check that an engine runs there: dial tcp 127.0.0.1:1: connect: connection refused\n"
		DYNAMODB_ENDPOINT=OTHER | 1 | "DYNAMODB_ENDPOINT OTHER does not respond as DynamoDB: check that an engine runs there\n"
		WEBHOOK_URL=localhost:8080/key | 1 | WEBHOOK_URL cannot be used: the URL must begin with https://
		WEBHOOK_URL=https://example.com/a b | 1 | "WEBHOOK_URL cannot be used: it contains white space\n"
		WEBHOOK_URL=http://127.0.0.1:1; WEBHOOK_EVENTS=pat-created,pat-creatd | 1 | WEBHOOK_EVENTS "pat-creatd" is not a type of event: use * for all, or types separated by commas: api-token-created api-token-deleted
		WEBHOOK_EVENTS=* | 1 | WEBHOOK_EVENTS is set without WEBHOOK_URL
		OIDC_ISSUER=https://issuer.example.com | 1 | OIDC_ISSUER and OIDC_CLIENT_ID must both be set
		OIDC_CLIENT_ID=console | 1 | OIDC_ISSUER and OIDC_CLIENT_ID must both be set
		OIDC_ISSUER=http://issuer.example.com | 1 | OIDC_ISSUER is "http://issuer.example.com": it must begin with https://
		OIDC_DEFAULT_ROLE=admin | 1 | OIDC_DEFAULT_ROLE "admin" is not a role: use Viewer, Editor or Admin
		OIDC_DEFAULT_ROLE=Admin | 1 | OIDC_DEFAULT_ROLE is set without OIDC_ISSUER
		TEMPLATE=/nowhere/template.yaml | 1 | TEMPLATE /nowhere/template.yaml does not exist
		# not YAML
		TEMPLATE=FILE | 1 | cannot be used, correct it:
		TEMPLATE=ELSEWHERE | 1 | the engine is not installed: run scripts/engine.sh
	`)) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			cmd := command(t)
			dir := filepath.Join(t.TempDir(), "data")
			cmd.Env = append(cmd.Env, "PORT=0", "DATA_DIR="+dir)
			if strings.HasPrefix(row[0], "--") {
				cmd.Args = append(cmd.Args, row[0])
			} else {
				cmd.Env = append(cmd.Env, strings.Split(row[0], "; ")...)
			}
			refused(t, cmd, row[1], row[2])
			if _, err := os.Stat(dir); err == nil {
				t.Error("the data folder was created")
			}
		})
	}
}

func TestSecondInstance(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	refused(t, command(t, "--data-dir="+p.dir, "--port=0"), "1",
		"DATA_DIR "+p.dir+" is locked: another instance, process "+strconv.Itoa(p.Process.Pid)+", uses it: stop that one")
	p.list(t)
}

func TestDamagedData(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	p.stop(t)
	path := filepath.Join(p.dir, "dynamodb.db")
	data, err := os.ReadFile(path)
	assert.OK(t, err)
	const schema = 20480
	// the engine starts, and every call fails
	write(t, path, string(data[:schema])+strings.Repeat("\xa5", len(data)-schema))
	refused(t, command(t, "--data-dir="+p.dir, "--port=0"), "1", "`make reset` deletes the data in "+p.dir)
}
