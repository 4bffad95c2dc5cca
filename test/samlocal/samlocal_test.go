package samlocal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/assert"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
	"toggleadmin/test/samlocal"
	"toggleadmin/test/sampleevent"
	"toggleadmin/test/script"
)

const root = "../.."

// shards is the number of `sam local start-api` that run the scripts. Each has its own tables. sam mostly waits: after
// a fast call it waits one second for the end of the function's log.
const shards = 3

// TestSAMLocal builds once and runs everything with this build.
func TestSAMLocal(t *testing.T) { //nolint:tparallel // the phases follow one another
	t.Parallel()
	cli := samlocal.CLI{Program: os.Getenv("SAM_PROGRAM"), Image: os.Getenv("SAM_INVOKE_IMAGE"), Root: root}
	if cli.Program == "" {
		t.Skip("make test-sam runs this test: it installs the SAM CLI, Docker and an image")
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Settings{})
	assert.OK(t, err)
	build(t)
	t.Run("scripts", func(t *testing.T) {
		for _, name := range []string{"differences", "without-dynamodb"} {
			t.Run(name, func(t *testing.T) { runScripts(t, cli, filepath.Join("testdata", name)) })
		}
		for i, dir := range shard(t, filepath.Join(root, "test", "e2e", "testdata")) {
			t.Run(fmt.Sprintf("e2e-%d", i+1), func(t *testing.T) { runScripts(t, cli, dir) })
		}
	})
	t.Run("sample-events", func(t *testing.T) {
		for i := range template.Functions {
			t.Run(template.Functions[i].Name, func(t *testing.T) { invokeSample(t, cli, &template.Functions[i]) })
		}
	})
}

// build builds for sam local. The build for a deployment must not change.
func build(t *testing.T) {
	t.Helper()
	before := filepath.Join(t.TempDir(), "before")
	assert.OK(t, os.WriteFile(before, nil, 0o600))
	command := exec.CommandContext(t.Context(), "make", "build-local")
	command.Dir = root
	command.Env = slices.DeleteFunc(os.Environ(),
		func(variable string) bool { return strings.HasPrefix(variable, "MAKE") })
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make build-local: %v\n%s", err, output)
	}
	command = exec.CommandContext(t.Context(), "find", ".aws-sam", "-path", ".aws-sam/local", "-prune", "-o", "-type", "f",
		"-newer", before, "-print")
	command.Dir = root
	if changed, err := command.CombinedOutput(); err != nil || len(changed) > 0 {
		t.Errorf("make build-local changed the build for a deployment: %v\n%s", err, changed)
	}
}

// serve starts an engine with new, seeded tables and returns a CLI that uses them.
func serve(t *testing.T, cli samlocal.CLI) (samlocal.CLI, *samlocal.Relay, local.Running) {
	t.Helper()
	data := localtest.Start(t, local.Config{RequestsOnly: true})
	relay, err := samlocal.StartRelay(t.Context(), data.DynamoDBEndpoint)
	assert.OK(t, err)
	t.Cleanup(relay.Close)
	cli.Endpoint = relay.Endpoint
	return cli, relay, data
}

// runScripts runs the scripts of a folder with `sam local start-api`, which ends with the test. Those of the folder
// without-dynamodb run without an engine.
func runScripts(t *testing.T, cli samlocal.CLI, dir string) {
	t.Helper()
	t.Parallel()
	cli, relay, data := serve(t, cli)
	if filepath.Base(dir) == "without-dynamodb" {
		relay.Close()
	}
	var log process.Output // of sam and of the functions
	api, err := cli.StartAPI(t.Context(), 0, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	t.Cleanup(func() {
		if err := api.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("sam local:\n%s", &log)
		}
	})
	script.Run(t, script.Environment{Name: script.SAM, BaseURL: api.URL, Credentials: data.Credentials}, dir)
}

// shard distributes the scripts of a folder to folders.
func shard(t *testing.T, dir string) []string {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(scripts) < shards {
		t.Fatalf("there are no scripts: %v", err)
	}
	dirs := make([]string, shards)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	for i, file := range scripts {
		path, err := filepath.Abs(file)
		if err = errors.Join(err, os.Symlink(path, filepath.Join(dirs[i%shards], filepath.Base(file)))); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// invokeSample calls a function with its sample event, with its own tables.
func invokeSample(t *testing.T, cli samlocal.CLI, function *samtemplate.Function) {
	t.Helper()
	t.Parallel()
	cli, _, _ = serve(t, cli)
	response, err := cli.Invoke(t.Context(), function.LogicalID, filepath.Join("events", function.Name+".json"))
	if err == nil {
		err = sampleevent.Check(function.Name, response)
	}
	if err != nil {
		t.Error(err)
	}
}
