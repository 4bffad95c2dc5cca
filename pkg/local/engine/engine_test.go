package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/test/process"
)

func client(endpoint string) *dynamodb.Client {
	attempts := 0 // the SDK's own few: dynoxide is back before they are over
	if enginetest.DynamoDBLocal() {
		attempts = 100 // Java needs seconds
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		RetryMaxAttempts: attempts,
	})
}

func makeTable(tb testing.TB, db *dynamodb.Client) {
	tb.Helper()
	_, err := db.CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func put(ctx context.Context, db *dynamodb.Client, id string) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("things"), Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
	})
	return err
}

func count(tb testing.TB, db *dynamodb.Client) int {
	tb.Helper()
	out, err := db.Scan(tb.Context(), &dynamodb.ScanInput{TableName: aws.String("things"), Limit: aws.Int32(1000)})
	if err != nil {
		tb.Fatal(err)
	}
	return int(out.Count)
}

func kill(tb testing.TB, pid int) {
	tb.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		tb.Fatal(err)
	}
}

func TestEnginesInMemoryAreSeparateAndStop(t *testing.T) {
	t.Parallel()
	one, two := enginetest.Start(t), enginetest.Start(t)
	makeTable(t, client(one.Endpoint()))
	makeTable(t, client(two.Endpoint()))
	one.Stop()
	one.Stop()
	if process.Runs(one.PID()) || one.Err() != nil {
		t.Errorf("after Stop: runs %v, error %v", process.Runs(one.PID()), one.Err())
	}
	if got := count(t, client(two.Endpoint())); got != 0 {
		t.Errorf("the other has %d items", got)
	}
}

func TestDataAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	e := enginetest.StartIn(t, dir)
	db := client(e.Endpoint())
	makeTable(t, db)
	if err := put(t.Context(), db, "a"); err != nil {
		t.Fatal(err)
	}
	e.Stop()
	if _, err := os.Stat(filepath.Join(dir, "engine.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note of the process id is left: %v", err)
	}
	e = enginetest.StartIn(t, dir)
	if got := count(t, client(e.Endpoint())); got != 1 {
		t.Errorf("%d items after a restart", got)
	}
}

func TestKilledWhileServingIsStartedAgain(t *testing.T) {
	t.Parallel()
	var log process.Output
	e, err := engine.Start(t.Context(), engine.Options{
		Program: enginetest.Program(t), Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	db := client(e.Endpoint())
	makeTable(t, db)
	acknowledged := 0
	for round := range 3 {
		killed := e.PID()
		for i := range 20 {
			if i == 10 {
				kill(t, killed)
			}
			if err := put(t.Context(), db, strconv.Itoa(round*100+i)); err != nil { // the client's retries must be enough
				t.Fatalf("round %d, put %d: %v", round, i, err)
			}
			acknowledged++
		}
		enginetest.Eventually(t, "another child serves", func() bool { return e.PID() != killed })
	}
	if got := count(t, db); got != acknowledged {
		t.Errorf("%d items, %d acknowledged", got, acknowledged)
	}
	if got := strings.Count(log.String(), "signal: killed"); got != 3 {
		t.Errorf("%d deaths in the log:\n%s", got, log.String())
	}
}

func TestQuickDeathsEndIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := enginetest.StartIn(t, dir)
	makeTable(t, client(e.Endpoint()))
	// From now on every start fails: the file is no database any more. The write-ahead log would repair it, so it goes too.
	kill(t, e.PID())
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, enginetest.Database()), bytes.Repeat([]byte("x"), 8192), 0o600),
		os.RemoveAll(filepath.Join(dir, enginetest.Database()+"-wal")),
	); err != nil {
		t.Fatal(err)
	}
	for { // it may have been quick enough to start before the damage: then it dies again
		select {
		case <-e.Done():
			if err := e.Err(); !errors.Is(err, engine.ErrDatabase) || !strings.Contains(err.Error(), "giving up") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			return
		case <-time.After(100 * time.Millisecond):
			_ = syscall.Kill(e.PID(), syscall.SIGKILL)
		}
	}
}

func TestKilledInMemoryEndsIt(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t)
	kill(t, e.PID())
	<-e.Done()
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v", err)
	}
}

func TestStopWhileItIsDown(t *testing.T) {
	t.Parallel()
	e := enginetest.StartIn(t, t.TempDir())
	kill(t, e.PID())
	e.Stop()
	if e.Err() != nil || process.Runs(e.PID()) {
		t.Errorf("error %v, runs %v", e.Err(), process.Runs(e.PID()))
	}
}

func TestStopEndsAStoppedChild(t *testing.T) {
	t.Parallel()
	e := enginetest.StartIn(t, t.TempDir())
	if err := syscall.Kill(e.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	e.Stop()
	if took := time.Since(before); process.Runs(e.PID()) || took > 2*time.Second {
		t.Errorf("runs %v after %s", process.Runs(e.PID()), took)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	program := enginetest.Program(t)
	damaged, half, others, file := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "file")
	e := enginetest.StartIn(t, half)
	makeTable(t, client(e.Endpoint()))
	e.Stop()
	database := filepath.Join(half, enginetest.Database())
	info, err := os.Stat(database)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(damaged, enginetest.Database()), bytes.Repeat([]byte("x"), 8192), 0o600),
		os.Truncate(database, info.Size()/2), os.WriteFile(file, nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	notProgram, other := program, program
	notProgram.Path, other.Path = filepath.Join(t.TempDir(), "engine"), filepath.Join(t.TempDir(), "engine")
	foreign, foreignEngine, remedy, died := "shared-local-instance.db", "dynamodb-local", "npm ci", engine.ErrDatabase
	if enginetest.DynamoDBLocal() {
		// Java ends for many reasons, and says when it is the data.
		foreign, foreignEngine, remedy, died = "dynamodb.db", "dynoxide", "install Java 17 or newer", nil
	}
	if err := errors.Join(
		os.WriteFile(notProgram.Path, []byte("no program"), 0o600),
		os.WriteFile(other.Path, []byte("#!/bin/sh\nexit 3\n"), 0o700),
		os.WriteFile(filepath.Join(others, foreign), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		options    engine.Options
		is         error
	}{
		{"not a database", "make reset", engine.Options{Program: program, Dir: damaged}, engine.ErrDatabase},
		{"half a database", "make reset", engine.Options{Program: program, Dir: half}, engine.ErrDatabase},
		{"a file instead of the folder", "not a directory", engine.Options{Program: program, Dir: file}, nil},
		{"another engine's data", "holds the data of " + foreignEngine, engine.Options{Program: program, Dir: others}, nil},
		{"a program that is none", remedy, engine.Options{Program: notProgram, Dir: t.TempDir()}, nil},
		{"a program that ends at once", "exit status 3", engine.Options{Program: other}, died},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := engine.Start(t.Context(), tt.options)
			if err == nil {
				e.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || (tt.is != nil && !errors.Is(err, tt.is)) {
				t.Errorf("error %q, want %q in it", err, tt.want)
			}
		})
	}
}

func TestFindMissing(t *testing.T) {
	t.Parallel()
	if _, err := engine.Find(t.TempDir()); !errors.Is(err, engine.ErrMissing) || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("error %v", err)
	}
	_, err := engine.FindDynamoDBLocal(t.TempDir())
	if !errors.Is(err, engine.ErrMissing) || !strings.Contains(err.Error(), "`make run ENGINE=dynamodb-local`") {
		t.Errorf("error %v", err)
	}
}

func TestVersionIsThePinnedOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if want := `"@dynoxide/linux-x64": "` + engine.Version + `"`; !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %s", name, want)
		}
		if strings.Contains(string(b), "://") {
			t.Errorf("%s names a host; write it with the settings in .npmrc", name)
		}
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`(?m)^DYNAMODB_LOCAL_VERSION +:= ` + regexp.QuoteMeta(engine.DynamoDBLocalVersion) + `$`); !want.Match(makefile) {
		t.Errorf("the Makefile lacks %s", want)
	}
}

// The test binary runs itself as the parent that is killed.
func TestItEndsWithItsParent(t *testing.T) {
	t.Parallel()
	const variable = "ENGINE_TEST_PARENT_DIR"
	if dir := os.Getenv(variable); dir != "" {
		e := enginetest.StartIn(t, dir)
		_, _ = os.Stdout.WriteString("pid " + strconv.Itoa(e.PID()) + " .\n")
		<-t.Context().Done()
		return
	}
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestItEndsWithItsParent$", "-test.timeout=3m")
	parent.Env = append(os.Environ(), variable+"="+t.TempDir())
	var out process.Output
	parent.Stdout = &out
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	enginetest.Eventually(t, "the engine runs", func() bool { return strings.Contains(out.String(), " .\n") })
	_, rest, _ := strings.Cut(out.String(), "pid ")
	pid, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	enginetest.Eventually(t, "the engine has ended", func() bool { return !process.Runs(pid) })
}

func TestAnotherServerOnThePortIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	// A program that never gets the port but stays alive must not be taken for ready, whatever answers there.
	fake := enginetest.Program(t)
	fake.Path = filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(fake.Path, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if e, err := engine.Start(ctx, engine.Options{Program: fake}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("engine %v, error %v", e, err)
	}
}

func TestReadyMeansItAnswers(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, enginetest.Start(t).Endpoint()+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	want := http.StatusOK
	if enginetest.DynamoDBLocal() {
		want = http.StatusBadRequest // it wants a signature
	}
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != want {
		t.Errorf("status %d, %q, %v", response.StatusCode, body, err)
	}
}
