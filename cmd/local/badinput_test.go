package main_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
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
	file := write(t, filepath.Join(t.TempDir(), "file"), "")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, used, _ := net.SplitHostPort(listener.Addr().String())
	for _, tt := range []struct {
		name    string
		setting string // a flag or a variable
		status  int
		want    string
	}{
		{"unknown flag", "--prot=3000", 2, "unknown flag --prot"},
		{"PORT is not a number", "PORT=http", 2, `PORT "http" is not a port: choose one`},
		{"PORT is empty", "PORT=", 2, `PORT "" is not a port: choose one`},
		{"PORT is out of range", "PORT=70000", 1, "PORT 70000 is not a port: choose one"},
		{"PORT is in use", "PORT=" + used, 1, "PORT " + used + " is in use: stop the process"},
		{"DATA_DIR is empty", "DATA_DIR=", 2, "DATA_DIR is empty"},
		{"DATA_DIR is a file", "DATA_DIR=" + file, 1, "cannot be created, choose another folder"},
		{"DATA_DIR cannot be written", "DATA_DIR=/proc/self", 1, "cannot be written, choose another folder"},
		{"DYNAMODB_ENDPOINT is not a URL", "DYNAMODB_ENDPOINT=localhost", 1, "use one such as http://127.0.0.1:8000"},
		{"DYNAMODB_ENDPOINT does not respond", "DYNAMODB_ENDPOINT=http://127.0.0.1:1", 1, "check that an engine runs there"},
		{"TEMPLATE does not exist", "TEMPLATE=/nowhere/template.yaml", 1, "TEMPLATE /nowhere/template.yaml does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t)
			cmd.Env = append(cmd.Env, "PORT=0", "DATA_DIR="+filepath.Join(t.TempDir(), "data"))
			if strings.HasPrefix(tt.setting, "--") {
				cmd.Args = append(cmd.Args, tt.setting)
			} else {
				cmd.Env = append(cmd.Env, tt.setting)
			}
			refused(t, cmd, tt.status, tt.want)
		})
	}
}

func TestBadTemplate(t *testing.T) {
	t.Parallel()
	enginetest.Program(t)
	content, err := os.ReadFile(localtest.Template(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, replacement, want string }{
		{"not YAML", string(content), "Resources: [", "cannot be used, correct it: "},
		{"unknown function", "functions/list-feature-types/", "functions/list-all-types/", "add one to pkg/local/functions.go"},
		{"missing variable", "          FEATURE_TYPES_TABLE: !Ref FeatureTypes\n", "", "FEATURE_TYPES_TABLE"},
		{"unknown context variable", "$context.responseLatency", "$context.color", "color"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "template.yaml"), strings.ReplaceAll(string(content), tt.old, tt.replacement))
			// The engine is searched from the template's folder upwards.
			if err := os.Symlink(filepath.Join(filepath.Dir(localtest.Template(t)), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			refused(t, command(t, "--port=0", "--data-dir="+filepath.Join(dir, "data"), "--template="+path), 1, tt.want)
		})
	}
}

func TestMissingEngine(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(localtest.Template(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "template.yaml"), string(content))
	refused(t, command(t, "--port=0", "--data-dir="+dir, "--template="+path), 1, "the engine is not installed: run scripts/engine.sh")
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
	for _, tt := range []struct {
		name   string
		damage func(data []byte) []byte
	}{
		{"half of the file", func(data []byte) []byte { return data[:len(data)/2] }},
		{"all but the schema", func(data []byte) []byte {
			return append(data[:20480:20480], bytes.Repeat([]byte{0xa5}, len(data)-20480)...)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, t.TempDir())
			p.stop(t)
			path := filepath.Join(p.dir, "dynamodb.db")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(tt.damage(data)))
			refused(t, command(t, "--data-dir="+p.dir, "--port=0"), 1, "`make reset` deletes the data in "+p.dir)
		})
	}
}

func TestTableWithOtherKeys(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Endpoint(t)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Users"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("email"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("email"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, command(t, "--data-dir="+t.TempDir(), "--port=0", "--dynamodb-endpoint="+endpoint), 1,
		"use another DYNAMODB_ENDPOINT, or delete that table there")
}
