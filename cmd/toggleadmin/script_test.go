// The scripts in testdata run toggleadmin in the process of the test, because a start takes 20 ms of CPU time. A command
// line that needs standard input, a terminal or environment variables runs as a process: the test binary, which calls
// main if its name is toggleadmin.
//
// Those in offline need no installation, those in local run on a local service of their own. Those in stack run on the
// deployed stack that STACK and API_URL name, and leave it unchanged. Those in emulator need an emulator of AWS on this
// machine. `make test-deploy` runs both.
package main_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/rogpeppe/go-internal/testscript"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/localtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toggleadmin": main.Main})
}

type commands = map[string]func(ts *testscript.TestScript, neg bool, args []string)

// run runs the scripts of a folder.
func run(t *testing.T, dir string, setup func(*testscript.Env) error, more commands) {
	t.Helper()
	all := commands{
		"run":     inProcess, // run N ARGUMENT …: runs toggleadmin in this process, which must return the status N
		"status":  status,    // status N program …: runs a program that must exit with the status N
		"capture": capture,   // capture VAR: sets a variable to the last output
		"call":    call,      // call STATUS TOKEN METHOD PATH [BODY]: calls the API, which must respond with that status
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
		service, stop := startObserved(t, recorded, data)
		env.Defer(func() { stop() })
		env.Values["restart"] = func() { stop(); _, stop = startObserved(t, recorded, data) }
		scripts, err := filepath.Abs("../../scripts")
		env.Vars = append(env.Vars, "DATA_DIR="+data, "BASE_URL="+service.BaseURL,
			"CLIENT_URL="+service.ClientURL, "SCRIPTS="+scripts,
			"API_TOKEN="+service.APIToken, "ADMIN_PAT="+service.Users[0].PAT, "EDITOR_PAT="+service.Users[1].PAT,
			"VIEWER_PAT="+service.Users[2].PAT)
		return errors.Join(err, withoutAWS(env))
	}, commands{
		"signin":    signIn,    // signin SUBJECT EMAIL: signs in with an OpenID Connect identity
		"interrupt": interrupt, // interrupt ID: begins the deletion of a person
		"age":       age,       // age TOKEN: makes the personal access token of the editor as old as 1970
		// ask QUESTION [ID]: runs the command and the request of a row of docs/events.md; api.json: the response
		"ask": ask,
		// webhook FILE: gives the service a webhook that refuses one request, and writes the bodies of the others to the file
		"webhook":     listen,
		"await":       await,      // await REGEXP ARGUMENT …: runs toggleadmin in this process until a line of its output matches
		"restart":     restart,    // restart: restarts the service, which then has other addresses
		"copy-tables": copyTables, // copy-tables PREFIX: makes the copies from which restore PREFIX restores
		"type":        typeTokens, // type PROMPT ANSWER …: runs `tokens revoke -` on a terminal and answers its prompts
	})
}

// startObserved starts a local service and records the actions that toggleadmin uses.
func startObserved(t *testing.T, recorded *actions, data string) (service local.Running, stop func()) {
	t.Helper()
	service, stopService := localtest.StartStop(t, local.Config{DataDir: data})
	proxy := recorded.observe(t, data)
	return service, func() { proxy.Close(); stopService() }
}

func restart(ts *testscript.TestScript, _ bool, _ []string) {
	if again, ok := ts.Value("restart").(func()); ok {
		again()
	}
}

// open opens the script's local service.
func open(ts *testscript.TestScript) *installation.Installation {
	i, err := installation.OpenLocal(context.Background(), ts.Getenv("DATA_DIR"))
	ts.Check(err)
	return i
}

// users returns the accounts of the script's local service.
func users(ts *testscript.TestScript) *user.Store {
	i := open(ts)
	return user.NewStore(i.Client, i.Tables, i.Log(time.Now))
}

func number(ts *testscript.TestScript, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	ts.Check(err)
	return n
}

func age(ts *testscript.TestScript, _ bool, args []string) {
	i := open(ts)
	_, err := i.Client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String(i.Tables["PersonalAccessTokens"]), Key: pat.Key(2, number(ts, args[0])), UpdateExpression: aws.String("SET createdAt = :at"),
		ConditionExpression:       aws.String("attribute_exists(createdAt)"),
		ExpressionAttributeValues: dynamo.Item{":at": dynamo.Time(time.Unix(0, 0))},
	})
	ts.Check(err)
}

func signIn(ts *testscript.TestScript, _ bool, args []string) {
	_, err := users(ts).SignIn(context.Background(), user.SignIn{
		Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: args[0]}, Email: args[1], EmailVerified: true,
		Logger: slog.New(slog.DiscardHandler),
	})
	ts.Check(err)
}

func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	_, err := users(ts).BeginDeletion(context.Background(), user.Person, number(ts, args[0]), nil)
	ts.Check(err)
}

func ask(ts *testscript.TestScript, _ bool, args []string) {
	page, err := os.ReadFile("../../docs/events.md")
	ts.Check(err)
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(args[0]) + `.*$`).FindString(string(page))
	cells := strings.Split(row, " | ")
	if len(cells) != 4 {
		ts.Fatalf("docs/events.md has no row %q", args[0])
	}
	const example = "17" // the id of a token
	id := strings.Join(args[1:], "")
	code := func(cell, separator string) string {
		parts := regexp.MustCompile("`[^`]+`").FindAllString(cell, -1)
		text := strings.ReplaceAll(strings.Join(parts, separator), "`", "")
		if id != "" && !strings.Contains(text, example) { // "and the event's id"
			return text + separator + id
		}
		return strings.ReplaceAll(text, example, id)
	}
	if query := strings.ReplaceAll(code(cells[2], "&"), "=&", "="); strings.Contains(query, "=") {
		content := request(ts, "200", ts.Getenv("ADMIN_PAT"), http.MethodGet, "/api/admin/search/events?"+query)
		ts.Check(os.WriteFile(ts.MkAbs("api.json"), content, 0o600))
	}
	inProcess(ts, false, append([]string{"0", "--local"}, strings.Fields(code(cells[3], " "))...))
}

func listen(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = file.Write(append(body, '\n'))
		}
		ts.Check(err)
	}))
	ts.Defer(func() { server.Close(); ts.Check(file.Close()) })
	settings, path := map[string]any{}, filepath.Join(ts.Getenv("DATA_DIR"), "local.json")
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(path)), &settings))
	settings["webhookUrl"], settings["webhookSecret"] = server.URL, webhook.NewSecret(make([]byte, 32))
	content, err := json.Marshal(settings)
	ts.Check(err)
	ts.Check(os.WriteFile(path, content, 0o600))
}

func copyTables(ts *testscript.TestScript, _ bool, args []string) {
	i := open(ts)
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	ts.Check(err)
	for _, table := range template.Tables {
		id, name := table.Name, args[0]+table.Name
		table.Name, table.StreamViewType, table.TTLAttribute = name, "", "" // which a recovery does not copy
		ts.Check(tables.Make(context.Background(), i.Client, []samtemplate.Table{table}))
		for item, err := range dynamo.Scan(context.Background(), i.Client, i.Tables[id]) {
			ts.Check(err)
			_, err = i.Client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &name, Item: item})
			ts.Check(err)
		}
	}
}

// withoutAWS hides the AWS credentials of this machine.
func withoutAWS(env *testscript.Env) error {
	none := filepath.Join(env.WorkDir, "none")
	env.Vars = append(env.Vars, "GOGC=off", // hundreds of processes start faster without it
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE="+none, "AWS_SHARED_CREDENTIALS_FILE="+none)
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
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") || strings.EqualFold(name, "NO_PROXY") {
			env.Vars = append(env.Vars, pair)
		}
	}
	env.Vars = append(env.Vars, "STACK="+os.Getenv("STACK"), "BASE_URL="+os.Getenv("API_URL"),
		"UNIQUE="+strings.ToLower(rand.Text()[:8]))
	return nil
}

// inProcess passes on DATA_DIR of the script's environment.
func inProcess(ts *testscript.TestScript, _ bool, args []string) {
	line := args[1:]
	if data := ts.Getenv("DATA_DIR"); data != "" {
		line = append([]string{"--data-dir", data}, line...)
	}
	if got := main.Run(context.Background(), line, ts.Stdout(), ts.Stderr()); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// awaited is longer than an event takes to have its effect.
const awaited = time.Minute

func await(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile("(?m)" + args[0])
	line := append([]string{"--data-dir", ts.Getenv("DATA_DIR")}, args[1:]...)
	for began := time.Now(); ; {
		var out, errs bytes.Buffer
		main.Run(context.Background(), line, &out, &errs)
		if pattern.Match(out.Bytes()) {
			_, err := ts.Stdout().Write(out.Bytes())
			ts.Check(err)
			return
		}
		if time.Since(began) > awaited {
			ts.Fatalf("no line matches %s: %s%s", args[0], &out, &errs)
		}
	}
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
	_, err := ts.Stdout().Write(request(ts, args...))
	ts.Check(err)
}

// request calls the API: status, token, method, path and body. It returns the body of the response.
func request(ts *testscript.TestScript, args ...string) []byte {
	body := strings.Join(args[4:], "")
	url := ts.Getenv("BASE_URL") + args[3]
	r, err := http.NewRequest(args[2], url, strings.NewReader(body)) //nolint:noctx // the client has a timeout
	ts.Check(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", args[1])
	return do(ts, r, args[0])
}

// do sends a request and returns the body of the response, which must have the status.
func do(ts *testscript.TestScript, r *http.Request, status string) []byte {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	ts.Check(err)
	if got := strconv.Itoa(response.StatusCode); got != status {
		ts.Fatalf("%s %s: status %s, want %s: %s", r.Method, r.URL.Path, got, status, content)
	}
	return content
}
