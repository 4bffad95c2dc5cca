package toggleadmin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/process"
)

// program is the built program's folder; every script has it in its PATH.
func program(tb testing.TB) string {
	tb.Helper()
	process.DependOn(tb, "../../cmd/toggleadmin", "../../pkg")
	dir := tb.TempDir()
	build := exec.CommandContext(tb.Context(), "go", "build", "-buildvcs=false", "-o", dir, "../../cmd/toggleadmin")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestLocal(t *testing.T) {
	t.Parallel()
	bin := program(t)
	run(t, "testdata/local", func(env *testscript.Env) error {
		data := filepath.Join(env.WorkDir, "data")
		service, stop := localtest.StartStop(t, local.Config{DataDir: data})
		env.Defer(stop)
		env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		env.Setenv("DATA_DIR", data)
		env.Setenv("BASE_URL", service.BaseURL)
		env.Setenv("API_TOKEN", service.APIToken)
		env.Setenv("ADMIN_PAT", service.Users[0].PAT)
		env.Setenv("EDITOR_PAT", service.Users[1].PAT)
		// No script here reaches AWS, whatever this machine is logged in to.
		env.Setenv("AWS_EC2_METADATA_DISABLED", "true")
		env.Setenv("AWS_CONFIG_FILE", filepath.Join(env.WorkDir, "none"))
		env.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(env.WorkDir, "none"))
		return nil
	}, map[string]func(*testscript.TestScript, bool, []string){"forget-tokens": forgetTokens, "set-counter": setCounter, "unread": unread})
}

// forgetTokens empties an account's map of tokens, as a table that was restored by itself may have it.
func forgetTokens(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "forget-tokens ACCOUNT")
	setItem(ts, "Users", dynamo.Item{"id": &types.AttributeValueMemberN{Value: args[0]}}, "pats", dynamo.M(dynamo.Item{}))
}

// setCounter sets the counter of the tokens' ids.
func setCounter(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "set-counter N")
	setItem(ts, "PersonalAccessTokens", dynamo.Item{"userId": dynamo.N(0), "id": dynamo.N(0)}, "lastId", &types.AttributeValueMemberN{Value: args[0]})
}

func setItem(ts *testscript.TestScript, table string, key dynamo.Item, attribute string, value types.AttributeValue) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	i, err := installation.OpenLocal(ctx, ts.Getenv("DATA_DIR"))
	ts.Check(err)
	_, err = i.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(i.Tables.ByID()[table]), Key: key, UpdateExpression: aws.String("SET #a = :v"),
		ExpressionAttributeNames: map[string]string{"#a": attribute}, ExpressionAttributeValues: dynamo.Item{":v": value},
	})
	ts.Check(err)
}

// unread runs a program whose reader has gone before it prints anything.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "unread N program …")
	reader, writer, err := os.Pipe()
	ts.Check(err)
	ts.Check(reader.Close())
	command := exec.Command(filepath.Join(strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator))[0], args[1]), args[2:]...) //nolint:noctx // it ends by itself
	command.Env = append(os.Environ(), "DATA_DIR="+ts.Getenv("DATA_DIR"))
	command.Stdout, command.Stderr = writer, ts.Stderr()
	err = command.Run()
	ts.Check(writer.Close())
	checkStatus(ts, err, args[0])
}

func TestStack(t *testing.T) {
	t.Parallel()
	if os.Getenv("STACK") == "" {
		t.Skip("STACK names no deployed stack; make test-deploy sets it")
	}
	run(t, "testdata/stack", stackSetup(program(t)), nil)
}

// stackSetup gives a script the stack that the environment names.
func stackSetup(bin string) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		for _, pair := range os.Environ() {
			if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") || strings.EqualFold(name, "NO_PROXY") {
				env.Setenv(name, value)
			}
		}
		env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		env.Setenv("STACK", os.Getenv("STACK"))
		env.Setenv("BASE_URL", os.Getenv("API_URL"))
		env.Setenv("UNIQUE", strings.ToLower(rand.Text()[:8]))
		return nil
	}
}

// run runs the scripts of a folder, which know the commands given beside those of all scripts.
func run(t *testing.T, dir string, setup func(*testscript.Env) error, commands map[string]func(*testscript.TestScript, bool, []string)) {
	t.Helper()
	all := map[string]func(*testscript.TestScript, bool, []string){
		"status": status, "terminal": terminal, "capture": capture, "call": call,
	}
	maps.Copy(all, commands)
	testscript.Run(t, testscript.Params{Dir: dir, Setup: setup, RequireExplicitExec: true, Cmds: all})
}

// arguments fails the script unless a command of ours is used as it is meant.
func arguments(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "status N program …")
	checkStatus(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func checkStatus(ts *testscript.TestScript, err error, want string) {
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "capture VAR")
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func call(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 4, "call STATUS TOKEN METHOD PATH")
	request, err := http.NewRequest(args[2], ts.Getenv("BASE_URL")+args[3], nil) //nolint:noctx // the client has a timeout
	ts.Check(err)
	request.Header.Set("Authorization", args[1])
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	ts.Check(err)
	defer answer.Body.Close()
	_, err = io.Copy(ts.Stdout(), answer.Body)
	ts.Check(err)
	if got := fmt.Sprint(answer.StatusCode); got != args[0] {
		ts.Fatalf("status %s, want %s", got, args[0])
	}
}
