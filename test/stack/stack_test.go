// Package stack_test tests that scripts/stack.sh rejects wrong arguments before it runs the SAM CLI, passes it the
// parameters of an environment, and fails without Python, and that scripts/vulnerabilities.sh fails without its
// database. The commands of stack.sh themselves run in `make test-deploy`.
package stack_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"toggleadmin/test/assert"
	"toggleadmin/test/process"
	"toggleadmin/test/table"
)

const root = "../../"

// run runs a command of a shell and returns its exit status and its output.
func run(t *testing.T, command, stdin string, environment ...string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Stdin, shell.Env = strings.NewReader(stdin), environment
	output, _ := shell.CombinedOutput()
	return fmt.Sprintf("%d %s", shell.ProcessState.ExitCode(), output)
}

// serve answers requests with a status and a body.
func serve(t *testing.T, answer func(path string) (status int, body string)) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r.URL.Path)
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException") // for a status that is not 200
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"functions")
	folders, err := filepath.Glob(root + "functions/*")
	assert.OK(t, err)
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	for _, row := range table.Rows(t, 3, strings.NewReplacer("ONE", "one of "+strings.Join(folders, " "),
		"DELETE", "This deletes the stack toggleadmin-prod and its API. The tables are kept.\\nEnter the name of the stack to "+
			"continue: not deleted: this is not the name of the stack").Replace(`
		# arguments | stdin | output
		deploy production | | unknown ENV 'production': dev, staging or prod
		check production | | unknown ENV 'production': dev, staging or prod
		deploy '' | | unknown ENV '': dev, staging or prod
		check prod yes | | unknown NOW 'yes': 1, or none for the environment's gradual deployment
		destroy dev | | unknown action 'destroy': check, deploy, package, sync, logs, outputs, delete or recover
		sync prod | | sync bypasses alarms and confirmation: use it only with ENV=dev, not 'prod'
		logs dev '' | | unknown FN '': ONE
		logs dev authorize | | unknown FN 'authorize': ONE
		logs dev 'authorizer not-found' | | unknown FN 'authorizer not-found': ONE
		delete prod | "yes\n" | "DELETE"
		delete prod | | "DELETE"
	`)) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			if got, want := run(t, root+"scripts/stack.sh "+row[0], row[1]), "2 "+row[2]+"\n"; got != want {
				t.Errorf("%q, want %q", got, want)
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
	assert.OK(t, err)
	if err := os.CopyFS(folder, fstest.MapFS{
		"samconfig.toml":         {Data: []byte(config)},
		"scripts/stack.sh":       {Data: script, Mode: 0o700},
		"scripts/python-tool.sh": {Data: []byte("#!/bin/sh\necho \"$@\"\n"), Mode: 0o700},
		"scripts/version.sh":     {Data: []byte("#!/bin/sh\necho 1.2.3\n"), Mode: 0o700},
	}); err != nil {
		t.Fatal(err)
	}
	const deployed = `python scripts/logging-role.py CONFIG
python scripts/versions.py announce CONFIG 1.2.3
sam deploy --parameter-overrides PARAMETERS Version=1.2.3 --config-env CONFIG
python scripts/versions.py prune CONFIG
`
	for _, row := range table.Rows(t, 3, `
		deploy staging 1 | staging | Stage=staging LogRetentionDays=30 DeploymentPreference=AllAtOnce
		deploy prod 1 | prod | Stage=prod DeploymentPreference=AllAtOnce
		deploy prod '' | prod | DeploymentPreference=Canary10Percent10Minutes Stage=prod
	`) {
		want := "0 " + strings.NewReplacer("CONFIG", row[1], "PARAMETERS", row[2]).Replace(deployed)
		if got := run(t, folder+"/scripts/stack.sh "+row[0], ""); got != want {
			t.Errorf("%s: %q, want %q", row[0], got, want)
		}
	}
	want := "2 python scripts/logging-role.py default\n" +
		"samconfig.toml has no list parameter_overrides in [default.deploy.parameters]\n0 "
	if got := run(t, folder+"/scripts/stack.sh deploy dev ''", "") + run(t, folder+"/scripts/stack.sh check prod 1", ""); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWithoutPython(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"functions")
	folder, programs := t.TempDir(), t.TempDir() // a copy without the tools in .cache, and a PATH without Python
	copying := "cp -R ../../scripts ../../functions " + folder + ` && for program in bash dirname cat rm tr awk; do
		ln -s "$(command -v $program)" ` + programs + " || exit 1; done"
	if got := run(t, copying, ""); got != "0 " {
		t.Fatal(got)
	}
	for _, row := range table.Rows(t, 2, `
		stack.sh deploy dev | 3 python
		stack.sh sync dev | 3 sam
		stack.sh logs dev authorizer | 3 sam
		stack.sh outputs dev | 3 sam
		stack.sh delete dev | 3 sam
		python-tool.sh sam build | 3 sam
		python-tool.sh --skip-without-python sam build | 0 skipped sam build: sam
	`) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			want := row[1] + " needs Python 3.10 or later with venv\n"
			if got := run(t, folder+"/scripts/"+row[0], "", "PATH="+programs); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestLoggingRole checks when a deployment may set the logging role of API Gateway, which belongs to the account.
func TestLoggingRole(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts")
	top, err := filepath.Abs(root)
	assert.OK(t, err)
	if _, err := os.Stat(root + ".cache/sam/installed.txt"); err != nil {
		t.Skip("the SAM CLI, which has the AWS SDK for Python, is not installed")
	}
	for _, row := range table.Rows(t, 4, strings.ReplaceAll(`
		# name | parameters | the account; none: 403 | a part of the output; 0: success without output
		no role | ["Stage=prod"] | {} | 0
		the role of this stack | ["Stage=prod"] | {"cloudwatchRoleArn": "ROLE/service-prod-GatewayAccountRole-1"} | 0
		the role of another stack | ["Stage=prod"] | {"cloudwatchRoleArn": "ROLE/service-GatewayAccountRole-1"} | "in eu-west-1 with ROLE/service-GatewayAccountRole-1.\nTo use this role, add \"ApiGatewayAccount=external\" to parameter_overrides in [prod"
		external | ["Stage=prod", "ApiGatewayAccount=external"] | {"cloudwatchRoleArn": "ROLE/other"} | 0
		without permission | ["Stage=prod"] | | read the logging role of API Gateway: An error occurred (AccessDeniedException)
	`, "ROLE", "arn:aws:iam::123456789012:role")) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(string) (int, string) {
				if row[2] == "" {
					return http.StatusForbidden, ""
				}
				return http.StatusOK, row[2]
			})
			folder := t.TempDir()
			config := "[prod.global.parameters]\nstack_name = \"service-prod\"\n[prod.deploy.parameters]\nparameter_overrides = " + row[1]
			got := run(t, "cd "+folder+" && cat >samconfig.toml && "+top+"/.cache/sam/bin/python "+top+"/scripts/logging-role.py prod",
				config, "PATH="+os.Getenv("PATH"), "AWS_ENDPOINT_URL="+url, "AWS_DEFAULT_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test",
				"AWS_SECRET_ACCESS_KEY=test", "HOME="+folder)
			if row[3] == "0" && got != "0 " || !strings.Contains(got, row[3]) || (got[0] == '0') != (row[3] == "0") {
				t.Errorf("%q, want %q", got, row[3])
			}
		})
	}
}

// TestVulnerabilities runs the script with npm and a registry that knows these vulnerabilities.
func TestVulnerabilities(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"pkg/api/console/libraries")
	for _, row := range table.Rows(t, 5, `
		# name | govulncheck | advisories of the registry; none: it has none of the kind | setting | exit status and parts of the output
		no databases | echo 'govulncheck: fetching vulnerabilities: no such host'; exit 1 | | A=1 | 1, govulncheck: the vulnerability database, npm audit: the vulnerability database, nothing was checked
		no databases, allowed | echo 'govulncheck: fetching vulnerabilities: no such host'; exit 1 | | SKIP_WITHOUT_DATABASE=1 | 0, skipped govulncheck: the, skipped npm audit: the
		in Go | echo GO-2026-1; exit 3 | {} | SKIP_WITHOUT_DATABASE=1 | 3, GO-2026-1
		in a library | echo No vulnerabilities found. | {"rapidoc":[{"id":1,"url":"https://example.com/GHSA-1","title":"Title","severity":"high","vulnerable_versions":"<=9.3.8"}]} | SKIP_WITHOUT_DATABASE=1 | 1, No vulnerabilities found., rapidoc, GHSA-1
		none | echo No vulnerabilities found. | {} | A=1 | 0, No vulnerabilities found., found 0 vulnerabilities
	`) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(path string) (int, string) {
				if row[2] == "" || !strings.HasSuffix(path, "/advisories/bulk") {
					return http.StatusNotFound, ""
				}
				return http.StatusOK, row[2]
			})
			got := run(t, root+`scripts/vulnerabilities.sh sh -c "$PROGRAM"`, "", "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(),
				"npm_config_registry="+url, "PROGRAM="+row[1], row[3])
			status, texts, _ := strings.Cut(row[4], ", ")
			for text := range strings.SplitSeq(texts, ", ") {
				if !strings.HasPrefix(got, status+" ") || !strings.Contains(got, text) {
					t.Errorf("%q does not contain %q, or has another status than %s", got, text, status)
				}
			}
		})
	}
}
