package stack_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/test/process"
)

const root = "../../"

// TestOutputs: sam is asked in the region that AWS_REGION names, which it does not know itself, and its answer comes as lines that a
// script can read. What it refuses is refused.
func TestOutputs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the scripts need bash, which is not here")
	}
	const answer = `echo "$AWS_DEFAULT_REGION $*" >&2
printf '[\n  {\n    "OutputKey": "ApiUrl",\n    "OutputValue": "https://a.execute-api.eu-west-1.amazonaws.com/dev",\n'
printf '    "Description": "Base URL"\n  },\n  {\n    "OutputKey": "UsersTable",\n    "OutputValue": "x-Users-1"\n  }\n]\n'
`
	for _, tt := range []struct {
		name, sam, stdout, stderr string
		status                    int
	}{
		{
			"answered", answer, "ApiUrl=https://a.execute-api.eu-west-1.amazonaws.com/dev\nUsersTable=x-Users-1\n",
			"eu-west-1 list stack-outputs --output json --config-env staging\n", 0,
		},
		{"refused", "echo no such stack >&2\nexit 1\n", "", "no such stack\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sam := filepath.Join(t.TempDir(), "sam")
			if err := os.WriteFile(sam, []byte(tt.sam), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "bash", root+"scripts/stack.sh", "outputs", "staging")
			command.Env = append(os.Environ(), "STACK_SAM=sh "+sam, "AWS_REGION=eu-west-1", "AWS_DEFAULT_REGION=us-east-1")
			var stdout, stderr bytes.Buffer
			command.Stdout, command.Stderr = &stdout, &stderr
			_ = command.Run() // its status is looked at
			if status := command.ProcessState.ExitCode(); status != tt.status || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("status %d, want %d\nstdout %q, want %q\nstderr %q, want %q",
					status, tt.status, stdout.String(), tt.stdout, stderr.String(), tt.stderr)
			}
		})
	}
}

// TestStack: what reaches sam, played by echo, and what is refused, in one line and with status 2.
func TestStack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the scripts need bash, which is not here")
	}
	process.DependOn(t, root+"scripts", root+"functions")
	folders, err := filepath.Glob(root + "functions/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	listed := strings.Join(folders, " ")
	const prompt = "This deletes the stack toggleadmin-prod and its API. The tables are kept.\nEnter the name of the stack to continue: "
	for _, tt := range []struct {
		name, arguments, stdin string
		stdout, stderr         string
	}{
		{"deploy", "deploy dev", "", "deploy --config-env default\n", ""},
		{"deploy to staging", "deploy staging", "", "deploy --config-env staging\n", ""},
		{"deploy to production", "deploy prod", "", "deploy --config-env prod\n", ""},
		{"deploy to nowhere", "deploy production", "", "", "unknown ENV 'production': dev, staging or prod\n"},
		{"deploy to nothing", "deploy ''", "", "", "unknown ENV '': dev, staging or prod\n"},
		{"sync", "sync dev", "", "sync --config-env default\n", ""},
		{
			"sync to production", "sync prod", "", "",
			"sync bypasses alarms and confirmation: use it only with ENV=dev, not 'prod'\n",
		},
		{"logs", "logs prod update-feature-type-lifetime", "", "logs --name UpdateFeatureTypeLifetimeFunction --tail --config-env prod\n", ""},
		{"logs of nothing", "logs dev ''", "", "", "unknown FN '': one of " + listed + "\n"},
		{"logs of no function", "logs dev authorizer", "", "", "unknown FN 'authorizer': one of " + listed + "\n"},
		{"logs of several", "logs dev 'authorizer not-found'", "", "", "unknown FN 'authorizer not-found': one of " + listed + "\n"},
		{"outputs of nowhere", "outputs production", "", "", "unknown ENV 'production': dev, staging or prod\n"},
		{"nowhere, before it is built", "check production", "", "", "unknown ENV 'production': dev, staging or prod\n"},
		{"delete", "delete dev", "", "delete --config-env default\n", ""},
		{"delete production", "delete prod", "toggleadmin-prod\n", "delete --config-env prod\n", prompt},
		{"delete production by yes", "delete prod", "yes\n", "", prompt + "not deleted: this is not the name of the stack\n"},
		{"delete production without an answer", "delete prod", "", "", prompt + "not deleted: this is not the name of the stack\n"},
		{"another action", "destroy dev", "", "", "unknown action 'destroy': check, deploy, sync, logs, outputs or delete\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "bash", "-c", "exec "+root+"scripts/stack.sh "+tt.arguments)
			command.Env = append(os.Environ(), "STACK_SAM=echo")
			command.Stdin = strings.NewReader(tt.stdin)
			var stdout, stderr bytes.Buffer
			command.Stdout, command.Stderr = &stdout, &stderr
			status := 0
			if err := command.Run(); err != nil {
				var exit *exec.ExitError
				if !errors.As(err, &exit) {
					t.Fatal(err)
				}
				status = exit.ExitCode()
			}
			want := 0
			if tt.stdout == "" {
				want = 2
			}
			if stdout.String() != tt.stdout || stderr.String() != tt.stderr || status != want {
				t.Errorf("status %d, want %d\nstdout %q, want %q\nstderr %q, want %q",
					status, want, stdout.String(), tt.stdout, stderr.String(), tt.stderr)
			}
		})
	}
}
