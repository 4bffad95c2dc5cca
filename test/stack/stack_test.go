// Package stack_test tests that scripts/stack.sh rejects wrong arguments before it runs the SAM CLI, passes it the
// parameters of an environment, and fails without Python, and that scripts/vulnerabilities.sh fails without its
// database. The commands of stack.sh themselves run in `make test-deploy`.
package stack_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"toggleadmin/test/process"
)

const root = "../../"

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"functions")
	folders, err := filepath.Glob(root + "functions/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	const (
		environment = "unknown ENV 'production': dev, staging or prod\n"
		notDeleted  = "This deletes the stack toggleadmin-prod and its API. The tables are kept.\nEnter the name of the " +
			"stack to continue: " +
			"not deleted: this is not the name of the stack\n"
	)
	functions := ": one of " + strings.Join(folders, " ") + "\n"
	for _, tt := range []struct{ arguments, stdin, want string }{
		{"deploy production", "", environment},
		{"check production", "", environment},
		{"deploy ''", "", "unknown ENV '': dev, staging or prod\n"},
		{"check prod yes", "", "unknown NOW 'yes': 1, or none for the environment's gradual deployment\n"},
		{"destroy dev", "", "unknown action 'destroy': check, deploy, package, sync, logs, outputs, delete or recover\n"},
		{"sync prod", "", "sync bypasses alarms and confirmation: use it only with ENV=dev, not 'prod'\n"},
		{"logs dev ''", "", "unknown FN ''" + functions},
		{"logs dev authorize", "", "unknown FN 'authorize'" + functions},
		{"logs dev 'authorizer not-found'", "", "unknown FN 'authorizer not-found'" + functions},
		{"delete prod", "yes\n", notDeleted},
		{"delete prod", "", notDeleted},
	} {
		t.Run(tt.arguments, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "sh", "-c", "exec "+root+"scripts/stack.sh "+tt.arguments)
			command.Stdin = strings.NewReader(tt.stdin)
			output, _ := command.CombinedOutput()
			if status := command.ProcessState.ExitCode(); status != 2 || string(output) != tt.want {
				t.Errorf("status %d, %q, want status 2, %q", status, output, tt.want)
			}
		})
	}
}

// TestDeploy checks what runs: the SAM CLI gets the version and all parameters of the environment, with NOW=1 except a
// gradual deployment.
func TestDeploy(t *testing.T) {
	t.Parallel()
	const config = `[staging.deploy.parameters]
parameter_overrides = ["Stage=staging", "DeploymentPreference=Canary10Percent5Minutes", "LogRetentionDays=30"] # a comment
tags = ["stage=staging"]
[prod.deploy.parameters]
parameter_overrides = [
  "DeploymentPreference=Canary10Percent10Minutes",
  "Stage=prod",
]
[default.deploy.parameters]
parameter_overrides = "Stage=dev"
`
	folder := t.TempDir()
	script, err := os.ReadFile(root + "scripts/stack.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, fstest.MapFS{
		"samconfig.toml":         {Data: []byte(config)},
		"scripts/stack.sh":       {Data: script, Mode: 0o700},
		"scripts/python-tool.sh": {Data: []byte("#!/bin/sh\necho \"$@\"\n"), Mode: 0o700},
		"scripts/version.sh":     {Data: []byte("#!/bin/sh\necho 1.2.3\n"), Mode: 0o700},
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ arguments, config, parameters string }{
		{"deploy staging 1", "staging", "Stage=staging LogRetentionDays=30 DeploymentPreference=AllAtOnce Version=1.2.3"},
		{"deploy prod 1", "prod", "Stage=prod DeploymentPreference=AllAtOnce Version=1.2.3"},
		{"deploy prod ''", "prod", "DeploymentPreference=Canary10Percent10Minutes Stage=prod Version=1.2.3"},
		{"deploy dev ''", "",
			"python scripts/logging-role.py default\nsamconfig.toml has no list parameter_overrides in [default.deploy.parameters]\n"},
		{"check prod 1", "", ""},
	} {
		want := tt.parameters
		if tt.config != "" {
			want = "python scripts/logging-role.py CONFIG\npython scripts/versions.py announce CONFIG 1.2.3\n" +
				"sam deploy --parameter-overrides " + tt.parameters +
				" --config-env CONFIG\npython scripts/versions.py prune CONFIG\n"
			want = strings.ReplaceAll(want, "CONFIG", tt.config)
		}
		command := exec.CommandContext(t.Context(), "sh", "-c", "exec "+folder+"/scripts/stack.sh "+tt.arguments)
		if output, _ := command.CombinedOutput(); string(output) != want {
			t.Errorf("%s: %q, want %q", tt.arguments, output, want)
		}
	}
}

func TestWithoutPython(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"functions")
	folder, programs := t.TempDir(), t.TempDir() // a copy without the tools in .cache, and a PATH without Python
	for _, name := range []string{"scripts", "functions"} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(root+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bash", "dirname", "cat", "rm", "tr", "awk"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	const reason = " needs Python 3.10 or later with venv\n"
	for _, tt := range []struct {
		command string
		status  int
		want    string
	}{
		{"stack.sh deploy dev", 3, "python" + reason},
		{"stack.sh sync dev", 3, "sam" + reason},
		{"stack.sh logs dev authorizer", 3, "sam" + reason},
		{"stack.sh outputs dev", 3, "sam" + reason},
		{"stack.sh delete dev", 3, "sam" + reason},
		{"python-tool.sh sam build", 3, "sam" + reason},
		{"python-tool.sh --skip-without-python sam build", 0, "skipped sam build: sam" + reason},
	} {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			arguments := strings.Fields(tt.command)
			command := exec.CommandContext(t.Context(), filepath.Join(folder, "scripts", arguments[0]), arguments[1:]...)
			command.Env = []string{"PATH=" + programs}
			output, _ := command.CombinedOutput()
			if status := command.ProcessState.ExitCode(); status != tt.status || string(output) != tt.want {
				t.Errorf("status %d, %q, want status %d, %q", status, output, tt.status, tt.want)
			}
		})
	}
}

// TestLoggingRole checks when a deployment may set the logging role of API Gateway, which belongs to the account.
func TestLoggingRole(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts")
	python, err := filepath.Abs(root + ".cache/sam/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root + ".cache/sam/installed.txt"); err != nil {
		t.Skip("the SAM CLI, which has the AWS SDK for Python, is not installed")
	}
	script, err := filepath.Abs(root + "scripts/logging-role.py")
	if err != nil {
		t.Fatal(err)
	}
	const role = "arn:aws:iam::123456789012:role/"
	for _, tt := range []struct{ name, parameters, account, want string }{
		{"no role", `["Stage=prod"]`, `{}`, ""},
		{"the role of this stack", `["Stage=prod"]`, `{"cloudwatchRoleArn": "` + role + `service-prod-GatewayAccountRole-1"}`,
			""},
		{"the role of another stack", `["Stage=prod"]`, `{"cloudwatchRoleArn": "` + role + `service-GatewayAccountRole-1"}`,
			"in eu-west-1 with " + role +
				"service-GatewayAccountRole-1.\nTo use this role, add \"ApiGatewayAccount=external\" to parameter_overrides in [prod"},
		{"external", `["Stage=prod", "ApiGatewayAccount=external"]`, `{"cloudwatchRoleArn": "` + role + `other"}`, ""},
		{"without permission", `["Stage=prod"]`, "",
			"read the logging role of API Gateway: An error occurred (AccessDeniedException)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.account == "" {
					w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
					w.WriteHeader(http.StatusForbidden)
				}
				_, _ = io.WriteString(w, tt.account)
			}))
			defer server.Close()
			folder := t.TempDir()
			config := "[prod.global.parameters]\nstack_name = \"service-prod\"\n[prod.deploy.parameters]\nparameter_overrides = " + tt.parameters
			if err := os.WriteFile(filepath.Join(folder, "samconfig.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), python, script, "prod")
			command.Dir = folder
			command.Env = []string{
				"AWS_ENDPOINT_URL=" + server.URL, "AWS_DEFAULT_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test",
				"AWS_SECRET_ACCESS_KEY=test", "HOME=" + folder,
			}
			output, err := command.CombinedOutput()
			if (err == nil) != (tt.want == "") || !strings.Contains(string(output), tt.want) || tt.want == "" &&
				len(output) > 0 {
				t.Errorf("%v, %q, want %q", err, output, tt.want)
			}
		})
	}
}

// TestVulnerabilities runs the script with npm and a registry that knows these vulnerabilities.
func TestVulnerabilities(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"pkg/api/console/libraries")
	const (
		unreachable = "echo 'govulncheck: fetching vulnerabilities: no such host'; exit 1"
		none        = "echo No vulnerabilities found."
		known       = `{"rapidoc":[{"id":1,"url":"https://example.com/GHSA-1","title":"Title","severity":"high",` +
			`"vulnerable_versions":"<=9.3.8"}]}`
	)
	for _, tt := range []struct {
		name, program, advisories, setting string // no advisories: the registry has none of the kind
		status                             int
		want                               []string
	}{
		{"no databases", unreachable, "", "", 1, []string{"govulncheck: the vulnerability database",
			"npm audit: the vulnerability database", "nothing was checked"}},
		{"no databases, allowed", unreachable, "", "SKIP_WITHOUT_DATABASE=1", 0,
			[]string{"skipped govulncheck: the", "skipped npm audit: the"}},
		{"in Go", "echo GO-2026-1; exit 3", "{}", "SKIP_WITHOUT_DATABASE=1", 3, []string{"GO-2026-1"}},
		{"in a library", none, known, "SKIP_WITHOUT_DATABASE=1", 1, []string{"No vulnerabilities found.", "rapidoc",
			"GHSA-1"}},
		{"none", none, "{}", "", 0, []string{"No vulnerabilities found.", "found 0 vulnerabilities"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.advisories == "" || !strings.HasSuffix(r.URL.Path, "/advisories/bulk") {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				_, _ = io.WriteString(w, tt.advisories)
			}))
			defer registry.Close()
			command := exec.CommandContext(t.Context(), root+"scripts/vulnerabilities.sh", "sh", "-c", tt.program)
			command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "npm_config_registry=" + registry.URL,
				tt.setting}
			output, _ := command.CombinedOutput()
			if status := command.ProcessState.ExitCode(); status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, output)
			}
			for _, text := range tt.want {
				if !strings.Contains(string(output), text) {
					t.Errorf("%q does not contain %q", output, text)
				}
			}
		})
	}
}
