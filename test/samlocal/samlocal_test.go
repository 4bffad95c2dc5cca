package samlocal_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/samlocal"
	"toggleadmin/test/sampleevent"
	"toggleadmin/test/script"
)

const root = "../.."

// shards is how many `sam local start-api` share the scripts, each beside tables of its own. Mostly they wait: sam looks a second long for
// the end of a function's log where a function is fast.
const shards = 3

// TestSAMLocal is one test because all of it runs on one build.
func TestSAMLocal(t *testing.T) {
	t.Parallel()
	cli := program(t)
	phase(t, "build", func() { buildLocally(t) })
	phase(t, "end-to-end scripts", func() {
		t.Run("scripts", func(t *testing.T) {
			t.Run("differences", func(t *testing.T) { runScripts(t, cli, filepath.Join("testdata", "differences")) })
			t.Run("without-dynamodb", func(t *testing.T) { runWithoutDynamoDB(t, cli) })
			for i, dir := range shard(t, filepath.Join(root, "test", "e2e", "testdata")) {
				t.Run(fmt.Sprintf("everywhere-%d", i+1), func(t *testing.T) { runScripts(t, cli, dir) })
			}
		})
	})
	phase(t, "sample events", func() {
		t.Run("sample-events", func(t *testing.T) {
			for _, function := range folders(t) {
				t.Run(function, func(t *testing.T) { invokeSample(t, cli, function) })
			}
		})
	})
}

// program is sam as `make test-sam` has installed it.
func program(t *testing.T) samlocal.CLI {
	t.Helper()
	sam := os.Getenv("SAM_PROGRAM")
	if sam == "" {
		t.Skip("`make test-sam` runs this: it brings the SAM CLI, Docker and an image")
	}
	return samlocal.CLI{Program: sam, Image: os.Getenv("SAM_INVOKE_IMAGE"), Root: root}
}

// phase tells whoever waits what took how long. A test's own log is silent as long as all is well.
func phase(t *testing.T, name string, do func()) {
	t.Helper()
	start := time.Now()
	do()
	fmt.Fprintf(os.Stderr, "%s: %.0f s\n", name, time.Since(start).Seconds())
}

// serve gives a CLI with new, seeded tables, and their credentials. Nothing but the API's requests calls a function.
func serve(t *testing.T, cli samlocal.CLI) (samlocal.CLI, *samlocal.Relay, script.Credentials) {
	t.Helper()
	dir := t.TempDir()
	data := localtest.Start(t, local.Config{DataDir: dir, RequestsOnly: true})
	relay, err := samlocal.StartRelay(t.Context(), data.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	credentials, err := script.ReadCredentials(filepath.Join(dir, "local.json"))
	if err != nil {
		t.Fatal(err)
	}
	cli.Endpoint = relay.Endpoint()
	return cli, relay, credentials
}

// startAPI gives a ground, which ends with the test.
func startAPI(t *testing.T, cli samlocal.CLI, credentials script.Credentials) script.Ground {
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
	return script.Ground{Name: script.SAM, BaseURL: api.URL, Credentials: credentials, Now: time.Now}
}

// openLog is where sam and the functions write to: a file that a failure names, with its end, for it has thousands of lines.
func openLog(t *testing.T) io.Writer {
	t.Helper()
	const enough = 8000
	folder := filepath.Join(root, ".cache", "sam-local")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.Base(t.Name())+".log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = log.Close()
		if content, err := os.ReadFile(path); t.Failed() && err == nil {
			t.Logf("the end of %s:\n%s", path, content[max(0, len(content)-enough):])
		}
	})
	return log
}

// runScripts runs the scripts of a folder beside tables of their own.
func runScripts(t *testing.T, cli samlocal.CLI, dir string) {
	t.Helper()
	t.Parallel()
	cli, _, credentials := serve(t, cli)
	script.Run(t, startAPI(t, cli, credentials), dir)
}

func runWithoutDynamoDB(t *testing.T, cli samlocal.CLI) {
	t.Helper()
	t.Parallel()
	cli, relay, credentials := serve(t, cli)
	relay.Close()
	script.Run(t, startAPI(t, cli, credentials), filepath.Join("testdata", "without-dynamodb"))
}

// shard deals the scripts of a folder out to folders of their own.
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
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dirs[i%shards], filepath.Base(file)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// invokeSample invokes a function with its sample event, beside tables of its own.
func invokeSample(t *testing.T, cli samlocal.CLI, function string) {
	t.Helper()
	t.Parallel()
	cli, _, _ = serve(t, cli)
	answer, err := cli.Invoke(t.Context(), function)
	if err != nil {
		t.Fatal(err)
	}
	if err := sampleevent.Check(function, answer); err != nil {
		t.Error(err)
	}
}

// folders lists functions/.
func folders(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("there are no functions: %v", err)
	}
	for i, main := range mains {
		mains[i] = filepath.Base(filepath.Dir(main))
	}
	return mains
}

// Every condition that does not hold under sam local has lines that say what does.
func TestDifferencesAreAsserted(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("testdata", "differences", "differences.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range script.Differences(script.SAM) {
		if !strings.Contains(string(content), "\n[!"+condition+"] ") {
			t.Errorf("no line of differences.txtar says what sam local does without %s", condition)
		}
	}
}
