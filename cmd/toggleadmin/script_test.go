// The scripts in testdata run toggleadmin as a process: the test binary, which calls main if its name is toggleadmin.
//
// Those in offline need no installation, those in local run on a local service of their own. Those in stack run on the deployed stack that
// STACK and API_URL name, and leave it unchanged. Those in emulator need an emulator of AWS on this machine. `make test-deploy` runs both.
package main_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
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
	"github.com/rogpeppe/go-internal/testscript"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toggleadmin": main.Main})
}

type commands = map[string]func(ts *testscript.TestScript, neg bool, args []string)

// run runs the scripts of a folder.
func run(t *testing.T, dir string, setup func(*testscript.Env) error, more commands) {
	t.Helper()
	all := commands{
		"status":  status,  // status N program …: runs a program that must exit with the status N
		"capture": capture, // capture VAR: sets a variable to the last output
		"call":    call,    // call STATUS TOKEN METHOD PATH: calls the API, which must respond with that status
	}
	maps.Copy(all, more)
	testscript.Run(t, testscript.Params{Dir: dir, Setup: setup, RequireExplicitExec: true, Cmds: all})
}

func TestOffline(t *testing.T) {
	t.Parallel()
	run(t, "testdata/offline", withoutAWS, nil)
}

func TestLocal(t *testing.T) {
	t.Parallel()
	recorded := &actions{used: map[string]bool{}}
	t.Cleanup(func() { recorded.compare(t) }) // after all scripts
	run(t, "testdata/local", func(env *testscript.Env) error {
		data := filepath.Join(env.WorkDir, "data")
		service, stop := localtest.StartStop(t, local.Config{DataDir: data})
		env.Defer(stop)
		env.Setenv("DATA_DIR", data)
		env.Setenv("BASE_URL", service.BaseURL)
		scripts, err := filepath.Abs("../../scripts")
		if err != nil {
			return err
		}
		env.Setenv("SCRIPTS", scripts)
		env.Setenv("API_TOKEN", service.APIToken)
		env.Setenv("ADMIN_PAT", service.Users[0].PAT)
		env.Setenv("EDITOR_PAT", service.Users[1].PAT)
		if err := recorded.observe(t, data); err != nil {
			return err
		}
		return withoutAWS(env)
	}, commands{
		"signin":    signIn,     // signin SUBJECT EMAIL: signs in with an OpenID Connect identity
		"interrupt": interrupt,  // interrupt ID: begins the deletion of a person
		"age":       age,        // age TOKEN: makes the personal access token of the editor as old as 1970
		"type":      typeTokens, // type PROMPT ANSWER …: runs `tokens revoke -` on a terminal and answers its prompts
	})
}

func age(ts *testscript.TestScript, _ bool, args []string) {
	i, err := installation.OpenLocal(context.Background(), ts.Getenv("DATA_DIR"))
	ts.Check(err)
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	_, err = i.Client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &i.Tables.PersonalAccessTokens, Key: pat.Key(2, id), UpdateExpression: aws.String("SET createdAt = :at"),
		ConditionExpression: aws.String("attribute_exists(createdAt)"), ExpressionAttributeValues: dynamo.Item{":at": dynamo.Time(time.Unix(0, 0))},
	})
	ts.Check(err)
}

func signIn(ts *testscript.TestScript, _ bool, args []string) {
	i, err := installation.OpenLocal(context.Background(), ts.Getenv("DATA_DIR"))
	ts.Check(err)
	_, err = user.NewStore(i.Client, i.Tables).SignIn(context.Background(), user.SignIn{
		Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: args[0]}, Email: args[1], EmailVerified: true,
		Logger: slog.New(slog.DiscardHandler),
	})
	ts.Check(err)
}

func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	i, err := installation.OpenLocal(context.Background(), ts.Getenv("DATA_DIR"))
	ts.Check(err)
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	_, err = user.NewStore(i.Client, i.Tables).BeginDeletion(context.Background(), user.Person, id)
	ts.Check(err)
}

// withoutAWS hides the AWS credentials of this machine.
func withoutAWS(env *testscript.Env) error {
	env.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	env.Setenv("AWS_CONFIG_FILE", filepath.Join(env.WorkDir, "none"))
	env.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(env.WorkDir, "none"))
	return nil
}

func TestStack(t *testing.T) {
	t.Parallel()
	if os.Getenv("STACK") == "" {
		t.Skip("STACK does not name a deployed stack; make test-deploy sets it")
	}
	run(t, "testdata/stack", withStack, nil)
}

func withStack(env *testscript.Env) error {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") || strings.EqualFold(name, "NO_PROXY") {
			env.Setenv(name, value)
		}
	}
	env.Setenv("STACK", os.Getenv("STACK"))
	env.Setenv("BASE_URL", os.Getenv("API_URL"))
	env.Setenv("UNIQUE", strings.ToLower(rand.Text()[:8]))
	return nil
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	got, err := 0, ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func capture(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func call(ts *testscript.TestScript, _ bool, args []string) {
	request, err := http.NewRequest(args[2], ts.Getenv("BASE_URL")+args[3], nil) //nolint:noctx // the client has a timeout
	ts.Check(err)
	request.Header.Set("Authorization", args[1])
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	_, err = io.Copy(ts.Stdout(), response.Body)
	ts.Check(err)
	if got := strconv.Itoa(response.StatusCode); got != args[0] {
		ts.Fatalf("status %s, want %s", got, args[0])
	}
}
