// Package samlocal_test runs the functions with `sam local`, in containers. `make test-sam` installs what it needs;
// otherwise it is skipped.
package samlocal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/sam"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/sampleevent"
	"toggleadmin/test/helper/script"
)

const root = "../.."

// shards is the number of `sam local start-api` that run the scripts. Each has its own tables. sam mostly waits: after
// a fast call it waits one second for the end of the function's log.
const shards = 3

// TestSAMLocal builds once and runs everything with this build.
func TestSAMLocal(t *testing.T) { //nolint:tparallel // the phases follow one another
	t.Parallel()
	cli := sam.CLI{Program: os.Getenv("SAM_PROGRAM"), Root: root, Environment: os.Environ()}
	if cli.Program == "" {
		t.Skip("make test-sam runs this test: it installs the SAM CLI, Docker and an image")
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"),
		samtemplate.Settings{Parameters: map[string]string{"ClientApi": "true"}})
	assert.OK(t, err)
	t.Run("without-docker", runWithoutDocker)
	t.Run("make", runMake)
	t.Run("page", func(t *testing.T) { runPage(t, cli.Program) })
	t.Run("scripts", func(t *testing.T) {
		for _, name := range []string{"differences", "without-dynamodb"} {
			t.Run(name, func(t *testing.T) { runScripts(t, cli, filepath.Join("testdata", name)) })
		}
		for i, dir := range shard(t, filepath.Join(root, "test", "e2e", "testdata")) {
			t.Run(fmt.Sprintf("e2e-%d", i+1), func(t *testing.T) { runScripts(t, cli, dir) })
		}
	})
	t.Run("sample-events", func(t *testing.T) { // of the functions that the scripts do not call
		for i, function := range template.Functions {
			called := func(r samtemplate.Route) bool { return r.Function == function.LogicalID }
			if !slices.ContainsFunc(template.API.Routes, called) {
				t.Run(function.Name, func(t *testing.T) { invokeSample(t, cli, &template.Functions[i]) })
			}
		}
	})
}

// serve starts an engine with new, seeded tables and returns a CLI that uses them.
func serve(t *testing.T, cli sam.CLI) (_ sam.CLI, data local.Running, stop func()) {
	t.Helper()
	config := local.Config{RequestsOnly: true, EngineHost: sam.HostAddress(t.Context())}
	data, stop = localtest.StartStop(t, config)
	cli.Endpoint = sam.InContainer(data.DynamoDBEndpoint)
	return cli, data, stop
}

// runScripts runs the scripts of a folder with `sam local start-api`, which ends with the test. Those of the folder
// without-dynamodb run without an engine.
func runScripts(t *testing.T, cli sam.CLI, dir string) {
	t.Helper()
	t.Parallel()
	cli, data, stop := serve(t, cli)
	if filepath.Base(dir) == "without-dynamodb" {
		stop()
	} else {
		t.Cleanup(stop)
	}
	port, err := strconv.Atoi(process.FreePort(t))
	assert.OK(t, err)
	var log process.Output // of sam and of the functions
	api, err := cli.StartAPI(t.Context(), port, &log)
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
func invokeSample(t *testing.T, cli sam.CLI, function *samtemplate.Function) {
	t.Helper()
	t.Parallel()
	cli, _, stop := serve(t, cli)
	defer stop()
	var log process.Output
	response, err := cli.Invoke(t.Context(), function.LogicalID, filepath.Join("events", function.Name+".json"), &log)
	if err == nil {
		err = sampleevent.Check(function.Name, response)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
}
