package samlocal_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/sampleevent"
)

// timeout is the time of a build and of the first start.
const timeout = 20 * time.Minute

// runWithoutDocker runs scripts/sam-local.sh without a Docker engine. Only a suite is skipped.
func runWithoutDocker(t *testing.T) {
	reason := "it needs Docker: DOCKER_HOST=unix:///nowhere does not respond\n"
	for _, tt := range []struct {
		arguments      []string
		status         int
		stdout, stderr string
	}{
		{[]string{"sam-local", ".aws-sam/local", "true"}, 1, "", "sam-local: " + reason},
		{[]string{"--skip", "test-sam", ".aws-sam/local", "false"}, 0, "skipped test-sam: " + reason, ""},
	} {
		var stdout, stderr strings.Builder
		command := inRoot(t, nil, "scripts/sam-local.sh", tt.arguments...)
		command.Env = append(command.Env, "DOCKER_HOST=unix:///nowhere")
		command.Stdout, command.Stderr = &stdout, &stderr
		err := command.Run()
		if command.ProcessState.ExitCode() != tt.status || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
			t.Errorf("%q: %v, stdout %q, stderr %q", tt.arguments, err, stdout.String(), stderr.String())
		}
	}
}

// runMake runs the targets of the Makefile. The build for a deployment must not change.
func runMake(t *testing.T) {
	before := filepath.Join(t.TempDir(), "before")
	assert.OK(t, os.WriteFile(before, nil, 0o600))
	var output process.Output
	dataDir := filepath.Join(t.TempDir(), "data")
	await(t, dataDir, &output, inRoot(t, &output, "make", "sam-local", "PORT=0", "DATA_DIR="+dataDir))
	invoke(t, inRoot(t, &output, "make", "invoke", "FN=update-feedback"))
	if !responds(t, dataDir) { // make invoke removes its own container only
		t.Error("make sam-local does not respond after make invoke")
	}
	changed, err := inRoot(t, nil, "find", ".aws-sam", "-path", ".aws-sam/local", "-prune", "-o", "-path", ".aws-sam/invoke",
		"-prune", "-o", "-type", "f", "-newer", before, "-print").Output()
	if err != nil || len(changed) > 0 {
		t.Errorf("the build for a deployment has changed: %v\n%s", err, changed)
	}
	if err := inRoot(t, &output, "make", "invoke", "FN=update").Run(); err == nil {
		t.Errorf("make invoke succeeds without a function:\n%s", &output)
	}
}

// runPage runs the commands of docs/sam-local.md, except `sam build`, which runMake has run with the same options.
func runPage(t *testing.T, program string) {
	var output process.Output
	dataDir, port := filepath.Join(t.TempDir(), "data"), process.FreePort(t)
	bash := func(commands string) *exec.Cmd {
		command := inRoot(t, &output, "bash", "-euc", commands)
		command.Env = append(command.Env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "DATA_DIR="+dataDir, "PORT="+port)
		return command
	}
	commands := commandsOf(t, "By hand")
	start, rest, _ := strings.Cut(commands, "\n")
	if err := bash(start).Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if ok && exit.ExitCode() == 3 {
			t.Skipf("DynamoDB Local is not available:\n%s", &output)
		}
		t.Fatalf("%v\n%s", err, &output)
	}
	t.Cleanup(func() { _ = inRoot(t, nil, "scripts/dynamodb-local.sh", "stop").Run() })
	rest = strings.NewReplacer("sam build --config-env local\n", "", "start-api", "start-api --port "+port).Replace(rest)
	await(t, dataDir, &output, bash(rest))
	invoke(t, bash(commandsOf(t, "Call one function")))
}

// inRoot returns a command in the folder of the repository. Its standard error and, unless it is set, its standard
// output are written to the output.
func inRoot(t *testing.T, output *process.Output, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(name, arguments...) //nolint:noctx // it ends by a signal to its process group
	command.Dir = root
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") })
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if output != nil {
		command.Stdout, command.Stderr = output, output
	}
	return command
}

// await starts a command that serves the API until the test ends, and waits until it responds.
func await(t *testing.T, dataDir string, output *process.Output, command *exec.Cmd) {
	t.Helper()
	assert.OK(t, command.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("%s:\n%s", command, output)
		}
	})
	process.Await(t, command.String(), 100*time.Millisecond, timeout, func() bool {
		select {
		case <-ended:
			t.Fatalf("%s has ended", command)
		default:
		}
		return responds(t, dataDir)
	})
}

// responds reports whether the API at the URL of local.json responds to a request.
func responds(t *testing.T, dataDir string) bool {
	t.Helper()
	var service local.Running
	content, err := os.ReadFile(filepath.Join(dataDir, "local.json"))
	if err != nil || json.Unmarshal(content, &service) != nil {
		return false
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.BaseURL+"/api/admin/feature-types",
		http.NoBody)
	assert.OK(t, err)
	request.Header.Set("Authorization", service.APIToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	return true
}

// invoke runs a command that prints the response of update-feedback to its sample event.
func invoke(t *testing.T, command *exec.Cmd) {
	t.Helper()
	command.Stdout = nil
	response, err := command.Output()
	if err == nil {
		err = sampleevent.Check("update-feedback", response)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, command.Stderr)
	}
}

// commandsOf returns the first block of commands of a section of docs/sam-local.md.
func commandsOf(t *testing.T, section string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "sam-local.md"))
	assert.OK(t, err)
	_, content, _ := strings.Cut(string(text), "\n## "+section+"\n")
	_, content, _ = strings.Cut(content, "```sh\n")
	block, _, found := strings.Cut(content, "```\n")
	if !found {
		t.Fatalf("docs/sam-local.md has no commands in the section %q", section)
	}
	return block
}
