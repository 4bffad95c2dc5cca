package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/process"
)

// createTable creates a table on the engine. The client retries for as long as a restart takes on a busy machine.
func createTable(tb testing.TB, e *engine.Engine) *dynamodb.Client {
	tb.Helper()
	db := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(e.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = 1000,
				100*time.Millisecond
		}),
	})
	_, err := db.CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"),
			AttributeType: types.ScalarAttributeTypeS}},
	})
	assert.OK(tb, err)
	return db
}

func put(tb testing.TB, db *dynamodb.Client, id string) {
	tb.Helper()
	_, err := db.PutItem(tb.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("things"), Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
	})
	assert.OK(tb, err)
}

func signal(tb testing.TB, pid int, s syscall.Signal) {
	tb.Helper()
	assert.OK(tb, syscall.Kill(pid, s))
}

func TestKilledEngineIsStartedAgainWithItsData(t *testing.T) {
	t.Parallel()
	var log process.Output
	e, err := engine.Start(t.Context(), engine.Options{
		Program: enginetest.Program(t), Dir: filepath.Join(t.TempDir(), "new", "folder"),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	assert.OK(t, err)
	t.Cleanup(e.Stop)
	db := createTable(t, e)
	for i := range 30 {
		if i%10 == 5 {
			signal(t, e.PID(), syscall.SIGKILL)
		}
		put(t, db, strconv.Itoa(i))
	}
	out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("things"), Limit: aws.Int32(1000)})
	if err != nil || out.Count != 30 {
		t.Errorf("%d items, want 30; %v", out.Count, err)
	}
	if got := strings.Count(log.String(), "signal: killed"); got != 3 {
		t.Errorf("%d restarts in the log:\n%s", got, log.String())
	}
	e.Stop()
	e.Stop()
	if process.Runs(e.PID()) || e.Err() != nil {
		t.Errorf("after Stop: runs %t, error %v", process.Runs(e.PID()), e.Err())
	}
}

func TestKilledInMemory(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t)
	signal(t, e.PID(), syscall.SIGKILL)
	<-e.Done()
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v", err)
	}
}

func TestStopWhileItIsDown(t *testing.T) {
	t.Parallel()
	e := enginetest.StartIn(t, t.TempDir())
	signal(t, e.PID(), syscall.SIGKILL)
	e.Stop()
	if e.Err() != nil || process.Runs(e.PID()) {
		t.Errorf("error %v, runs %t", e.Err(), process.Runs(e.PID()))
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	program, dir := enginetest.Program(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.Mkdir(path("damaged"), 0o700), os.WriteFile(path("damaged/dynamodb.db"), bytes.Repeat([]byte("x"), 8192), 0o600),
		os.WriteFile(path("file"), []byte("no program"), 0o600), os.WriteFile(path("ends"), []byte("#!/bin/sh\nexit 3\n"),
			0o700),
	); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, program, dir, want string }{
		{"damaged data", program, path("damaged"), "`make reset DATA_DIR=" + path("damaged") + "` deletes the data"},
		{"not a program", path("file"), "", "run scripts/engine.sh"},
		{"a program that ends", path("ends"), "", "exit status 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := engine.Start(t.Context(), engine.Options{Program: tt.program, Dir: tt.dir})
			if err == nil {
				e.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q in it", err, tt.want)
			}
		})
	}
}

// Containers do not reach a loopback address.
func TestHost(t *testing.T) {
	t.Parallel()
	e, err := engine.Start(t.Context(), engine.Options{Program: enginetest.Program(t), Host: "127.0.0.2"})
	assert.OK(t, err)
	t.Cleanup(e.Stop)
	if !strings.HasPrefix(e.Endpoint(), "http://127.0.0.2:") {
		t.Errorf("the engine listens on %s", e.Endpoint())
	}
}

func TestFindMissing(t *testing.T) {
	t.Parallel()
	if path, err := engine.Find(t.TempDir()); err == nil || err.Error() != "the engine is not installed: run scripts/engine.sh" {
		t.Errorf("path %q, error %v", path, err)
	}
}

// A child that runs but never listens is not ready, whatever listens on its port.
func TestStartWaitsForItsOwnChild(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "engine")
	assert.OK(t, os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := engine.Start(ctx, engine.Options{Program: program}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// leaveBehind starts an engine that belongs to no Engine, as if the process that started it had been killed.
func leaveBehind(tb testing.TB, dir string) *exec.Cmd {
	tb.Helper()
	lock, err := os.Create(filepath.Join(dir, "engine.pid"))
	assert.OK(tb, err)
	defer lock.Close()
	cmd := exec.CommandContext(tb.Context(), enginetest.Program(tb), "serve", "--port", "0", "--db-path",
		filepath.Join(dir, "dynamodb.db"))
	cmd.ExtraFiles = []*os.File{lock}
	assert.OK(tb, errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), cmd.Start()))
	if _, err := lock.WriteString(strconv.Itoa(cmd.Process.Pid)); err != nil {
		tb.Fatal(err)
	}
	return cmd
}

func TestStartEndsAnEngineLeftBehind(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		dir := t.TempDir()
		left := leaveBehind(t, dir)
		if stopped {
			signal(t, left.Process.Pid, syscall.SIGSTOP)
		}
		createTable(t, enginetest.StartIn(t, dir))
		_ = left.Wait() // returns because the process has ended
	}
}

// A process that has locked the folder and is not the engine is not ended.
func TestStartSparesAProcessWithTheLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := os.Create(filepath.Join(dir, "engine.pid"))
	assert.OK(t, err)
	defer lock.Close()
	assert.OK(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	if _, err := fmt.Fprint(lock, os.Getpid()); err != nil { // if the engine's Start ended it, the test would end
		t.Fatal(err)
	}
	e, err := engine.Start(t.Context(), engine.Options{Program: enginetest.Program(t), Dir: dir})
	if err == nil {
		e.Stop()
		t.Fatal("it started")
	}
	if want := fmt.Sprintf("process %d, which is not the engine", os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q in it", err, want)
	}
}

// A web page that tries the ports of 127.0.0.1 does not find an engine.
func TestEnginesHaveRandomAddresses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has loopback addresses besides 127.0.0.1")
	}
	hosts := map[string]bool{"127.0.0.1": true}
	for range 3 {
		endpoint, err := url.Parse(enginetest.Start(t).Endpoint())
		assert.OK(t, err)
		if hosts[endpoint.Hostname()] {
			t.Errorf("%s is not an address of its own", endpoint.Hostname())
		}
		hosts[endpoint.Hostname()] = true
		address := net.JoinHostPort("127.0.0.1", endpoint.Port())
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			t.Errorf("the engine of %s accepts connections to %s", endpoint, address)
		}
	}
}

// Process ids are reused: an id without the lock is not the engine's.
func TestStartSparesOtherProcesses(t *testing.T) {
	t.Parallel()
	other := enginetest.Start(t)
	for _, note := range []string{strconv.Itoa(other.PID()), "-1", "text", ""} {
		dir := t.TempDir()
		assert.OK(t, os.WriteFile(filepath.Join(dir, "engine.pid"), []byte(note), 0o600))
		enginetest.StartIn(t, dir)
	}
	createTable(t, other)
}
