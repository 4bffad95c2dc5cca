package main_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
)

// refused runs the program, which must end by itself with one clear line.
func refused(tb testing.TB, cmd *exec.Cmd, wantStatus int, want string) {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	before := time.Now()
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != wantStatus {
		tb.Errorf("it ended with %v, want status %d", err, wantStatus)
	}
	line := stderr.String()
	if !strings.HasPrefix(line, "local: ") || strings.Count(line, "\n") != 1 || !strings.Contains(line, want) {
		tb.Errorf("stderr %q, want %q in one line", line, want)
	}
	if stdout.Len() > 0 {
		tb.Errorf("stdout %q", stdout.String())
	}
	if took := time.Since(before); took > enginetest.Patience() {
		tb.Errorf("it took %s", took)
	}
}

// listen takes a free port.
func listen(tb testing.TB) (l net.Listener, port string) {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	return l, port
}

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
	for _, tt := range []struct {
		name   string
		env    string
		args   []string
		status int
		want   string
	}{
		{"unknown flag", "", []string{"--prot=3000"}, 2, "unknown flag --prot"},
		{"argument", "", []string{"now"}, 2, "unexpected argument now"},
		{"port that is no number", "PORT=http", nil, 2, `PORT "http" is no port: choose one`},
		{"empty port", "PORT=", nil, 2, `PORT "" is no port: choose one`},
		{"port out of range", "PORT=70000", nil, 1, "PORT 70000 is no port: choose one"},
		{"negative port", "", []string{"--port=-1"}, 1, "PORT -1 is no port"},
		{"empty folder", "", []string{"--data-dir="}, 2, "DATA_DIR is empty"},
		{"a file for a folder", "", []string{"--data-dir=" + file}, 1, "cannot be made, choose another one"},
		{"below a file", "", []string{"--data-dir=" + file + "/data"}, 1, "cannot be made, choose another one"},
		{"folder that nobody can make", "", []string{"--data-dir=/proc/data"}, 1, "cannot be made, choose another one"},
		{"folder that nobody can write", "", []string{"--data-dir=/proc/self"}, 1, "cannot be written, choose another one"},
		{"unknown engine", "ENGINE=mysql", nil, 1, `ENGINE "mysql" is not known: use dynoxide or dynamodb-local`},
		{"endpoint that is no address", "DYNAMODB_ENDPOINT=localhost", nil, 1, "give one such as http://127.0.0.1:8000"},
		{"endpoint where nobody listens", "DYNAMODB_ENDPOINT=http://127.0.0.1:1", nil, 1, "does not serve, is it running?"},
		{"no template", "TEMPLATE=/nowhere/template.yaml", nil, 1, "there is no template /nowhere/template.yaml: start in the project's folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, append([]string{"--data-dir=" + filepath.Join(t.TempDir(), "d"), "--port=0"}, tt.args...)...)
			if strings.HasPrefix(tt.env, "PORT=") {
				cmd.Args = append(cmd.Args[:2], tt.args...) // the flag would win
			}
			if tt.env != "" {
				cmd.Env = append(cmd.Env, tt.env)
			}
			refused(t, cmd, tt.status, tt.want)
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	out, err := command(t, "--help").Output()
	if err != nil || !strings.Contains(string(out), "DATA_DIR") {
		t.Errorf("%v %s", err, out)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, port := listen(t)
	defer l.Close()
	refused(t, command(t, "--data-dir="+t.TempDir(), "--port="+port), 1, "PORT "+port+" is in use: stop what listens there, or choose another one")
}

func TestSecondInstance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, dir)
	want := "is in use by another instance, process " + strconv.Itoa(p.Process.Pid) + ": stop that one, or choose another DATA_DIR"
	refused(t, command(t, "--data-dir="+dir, "--port=0"), 1, want)
	p.list(t)
}

func TestBadTemplate(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(localtest.Template(t))
	if err != nil {
		t.Fatal(err)
	}
	good := string(content)
	for _, tt := range []struct{ name, template, want string }{
		{"no YAML", "Resources: [", "the template cannot be used, correct it: "},
		{"empty", "", "the template cannot be used, correct it: "},
		{"unknown intrinsic", strings.Replace(good, "!Ref FeatureTypes\n", "!Transform FeatureTypes\n", 1), "template.yaml:"},
		{"unknown function", strings.ReplaceAll(good, "functions/list-feature-types/", "functions/list-all-types/"), "pkg/local/functions.go"},
		{"missing variable", strings.ReplaceAll(good, "          FEATURE_TYPES_TABLE: !Ref FeatureTypes\n", ""), "FEATURE_TYPES_TABLE is missing"},
		{"unknown context variable", strings.ReplaceAll(good, "$context.responseLatency", "$context.colour"), "colour"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "template.yaml"), tt.template)
			for _, engines := range []string{"node_modules", ".cache"} { // the engine's program is looked for beside the template
				if err := os.Symlink(filepath.Join(filepath.Dir(localtest.Template(t)), engines), filepath.Join(dir, engines)); err != nil {
					t.Fatal(err)
				}
			}
			refused(t, command(t, "--port=0", "--data-dir="+filepath.Join(dir, "d"), "--template="+path), 1, tt.want)
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
	for engine, want := range map[string]string{
		"dynoxide":       "the engine is not installed: run `npm ci`",
		"dynamodb-local": "the engine is not installed: `make run ENGINE=dynamodb-local` gets DynamoDB Local",
	} {
		refused(t, command(t, "--port=0", "--data-dir="+filepath.Join(dir, "d"), "--template="+path, "--engine="+engine), 1, want)
	}
}

func TestAnotherEnginesData(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ engine, database, want string }{
		{"dynoxide", "shared-local-instance.db", "holds the data of dynamodb-local (shared-local-instance.db), not of dynoxide: choose another DATA_DIR"},
		{"dynamodb-local", "dynamodb.db", "holds the data of dynoxide (dynamodb.db), not of dynamodb-local: choose another DATA_DIR"},
	} {
		if tt.engine != enginetest.Name() {
			continue // it may not be installed here
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, tt.database), "")
		refused(t, command(t, "--port=0", "--data-dir="+dir), 1, tt.want)
	}
}

func TestDamagedData(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(db []byte) []byte
	}{
		{"the beginning", func(db []byte) []byte { return append(bytes.Repeat([]byte("x"), 4096), db[4096:]...) }},
		{"half of it is gone", func(db []byte) []byte { return db[:len(db)/2] }},
		{"all but the schema", func(db []byte) []byte { return append(db[:20480:20480], bytes.Repeat([]byte{0xa5}, len(db)-20480)...) }},
		{"another file", func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 1000) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := serve(t, dir)
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := <-p.ended; err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, enginetest.Database())
			db, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(tt.damage(db)))
			refused(t, command(t, "--data-dir="+dir, "--port=0"), 1, "`make reset` deletes")
		})
	}
}

func TestATableWithOtherKeysIsRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(e.Endpoint()), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Users"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("email"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("email"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, command(t, "--data-dir="+t.TempDir(), "--port=0", "--dynamodb-endpoint="+e.Endpoint()), 1, "Users has the key (email S) instead of (id N)")
}
