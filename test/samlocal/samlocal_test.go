package samlocal_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/localtest"
	"toggleadmin/test/samlocal"
	"toggleadmin/test/sampleevent"
	"toggleadmin/test/script"
)

const root = "../.."

// shards is the number of `sam local start-api` that run the scripts. Each has its own tables. sam mostly waits: after
// a fast call it waits one second for the end of the function's log.
const shards = 3

// TestSAMLocal builds once and runs everything with this build.
func TestSAMLocal(t *testing.T) {
	t.Parallel()
	cli := samlocal.CLI{Program: os.Getenv("SAM_PROGRAM"), Image: os.Getenv("SAM_INVOKE_IMAGE"), Root: root}
	if cli.Program == "" {
		t.Skip("make test-sam runs this test: it installs the SAM CLI, Docker and an image")
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	phase(t, "build", func(t *testing.T) { build(t, template) })
	phase(t, "scripts", func(t *testing.T) {
		t.Run("differences", func(t *testing.T) { runScripts(t, cli, filepath.Join("testdata", "differences")) })
		t.Run("without-dynamodb", func(t *testing.T) { runWithoutDynamoDB(t, cli) })
		for i, dir := range shard(t, filepath.Join(root, "test", "e2e", "testdata")) {
			t.Run(fmt.Sprintf("e2e-%d", i+1), func(t *testing.T) { runScripts(t, cli, dir) })
		}
	})
	phase(t, "sample-events", func(t *testing.T) {
		for i := range template.Functions {
			t.Run(template.Functions[i].Name, func(t *testing.T) { invokeSample(t, cli, &template.Functions[i]) })
		}
	})
}

// phase runs a part of the test and prints how long it took.
func phase(t *testing.T, name string, run func(*testing.T)) {
	t.Helper()
	start := time.Now()
	if !t.Run(name, run) {
		t.FailNow()
	}
	fmt.Fprintf(os.Stderr, "%s: %.0f s\n", name, time.Since(start).Seconds())
}

// build builds for sam local. The build for a deployment must not change.
func build(t *testing.T, template *samtemplate.Template) {
	t.Helper()
	before := deploymentBuild(t)
	command := exec.CommandContext(t.Context(), "make", "build-local")
	command.Dir = root
	command.Env = slices.DeleteFunc(os.Environ(),
		func(variable string) bool { return strings.HasPrefix(variable, "MAKE") })
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make build-local: %v\n%s", err, output)
	}
	if diff := cmp.Diff(before, deploymentBuild(t)); diff != "" {
		t.Errorf("make build-local changed the build for a deployment:\n%s", diff)
	}
	for i := range template.Functions {
		// A container may have no libraries.
		binary, err := elf.Open(filepath.Join(root, ".aws-sam", "local", "build", template.Functions[i].LogicalID,
			"bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := binary.ImportedLibraries()
		if binary.Machine != elf.EM_X86_64 || err != nil || len(libraries) > 0 {
			t.Errorf("%s is for %s and needs %q (%v), want x86_64 and none", template.Functions[i].Name, binary.Machine,
				libraries, err)
		}
		_ = binary.Close()
	}
}

// deploymentBuild returns the size and time of each file of .aws-sam except those of the local build.
func deploymentBuild(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	folder := filepath.Join(root, ".aws-sam")
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if path == filepath.Join(folder, "local") {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			found[path] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// serve starts an engine with new, seeded tables and returns a CLI that uses them.
func serve(t *testing.T, cli samlocal.CLI) (samlocal.CLI, *samlocal.Relay, local.Running) {
	t.Helper()
	data := localtest.Start(t, local.Config{RequestsOnly: true})
	relay, err := samlocal.StartRelay(t.Context(), data.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	cli.Endpoint = relay.Endpoint
	return cli, relay, data
}

// startAPI starts `sam local start-api`, which ends with the test.
func startAPI(t *testing.T, cli samlocal.CLI, data local.Running) script.Environment {
	t.Helper()
	api, err := cli.StartAPI(t.Context(), 0, openLog(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Stop(); err != nil {
			t.Error(err)
		}
	})
	return script.Environment{Name: script.SAM, BaseURL: api.URL, Credentials: data.Credentials}
}

// openLog creates a file for the output of sam and of the functions. If the test fails, it logs the end of it.
func openLog(t *testing.T) io.Writer {
	t.Helper()
	const most = 8000
	path := filepath.Join(root, ".cache", "sam-local", filepath.Base(t.Name())+".log")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = log.Close()
		if content, err := os.ReadFile(path); t.Failed() && err == nil {
			t.Logf("the end of %s:\n%s", path, content[max(0, len(content)-most):])
		}
	})
	return log
}

func runScripts(t *testing.T, cli samlocal.CLI, dir string) {
	t.Helper()
	t.Parallel()
	cli, _, data := serve(t, cli)
	script.Run(t, startAPI(t, cli, data), dir)
}

func runWithoutDynamoDB(t *testing.T, cli samlocal.CLI) {
	t.Helper()
	t.Parallel()
	cli, relay, data := serve(t, cli)
	relay.Close()
	script.Run(t, startAPI(t, cli, data), filepath.Join("testdata", "without-dynamodb"))
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

// Every condition that does not hold in sam local has lines that assert what sam local does instead.
func TestDifferencesAreAsserted(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("testdata", "differences", "differences.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range script.Differences(script.SAM) {
		if !strings.Contains(string(content), "\n[!"+condition+"] ") {
			t.Errorf("differences.txtar does not assert what sam local does without %s", condition)
		}
	}
}
