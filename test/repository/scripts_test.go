package repository_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toggleadmin/test/helper/process"
)

// shell runs a command of a shell and returns its exit status and its output.
func shell(t *testing.T, command, stdin string, environment ...string) string {
	t.Helper()
	program := exec.CommandContext(t.Context(), "sh", "-c", command)
	program.Stdin, program.Env = strings.NewReader(stdin), environment
	output, _ := program.CombinedOutput()
	return fmt.Sprintf("%d %s", program.ProcessState.ExitCode(), output)
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

func TestWithoutPython(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"/scripts", root+"/functions")
	folder, programs := t.TempDir(), t.TempDir() // a copy without the tools in .cache, and a PATH without Python
	copying := "cp -R ../../scripts ../../functions " + folder + ` && for program in bash dirname cat rm tr awk; do
		ln -s "$(command -v $program)" ` + programs + " || exit 1; done"
	if got := shell(t, copying, ""); got != "0 " {
		t.Fatal(got)
	}
	for _, test := range []struct{ command, want string }{
		{"python-tool.sh python scripts/stack.py deploy dev", "3 python"},
		{"python-tool.sh sam build", "3 sam"},
		{"python-tool.sh --skip-without-python sam build", "0 skipped sam build: sam"},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			want := test.want + " needs Python 3.10 or later with venv\n"
			if got := shell(t, folder+"/scripts/"+test.command, "", "PATH="+programs); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestVulnerabilities runs the script with npm and a registry that knows these vulnerabilities.
func TestVulnerabilities(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"/scripts", root+"/pkg/api/console/libraries")
	for _, test := range []struct {
		name        string
		govulncheck string // command in its place
		advisories  string // of the registry; none: it has none of the kind
		setting     string
		status      string
		want        []string // parts of the output
	}{
		{
			name:        "no databases",
			govulncheck: "echo 'govulncheck: fetching vulnerabilities: no such host'; exit 1",
			setting:     "A=1",
			status:      "1",
			want:        []string{"govulncheck: the vulnerability database", "npm audit: the vulnerability database", "nothing was checked"},
		},
		{
			name:        "no databases, allowed",
			govulncheck: "echo 'govulncheck: fetching vulnerabilities: no such host'; exit 1",
			setting:     "SKIP_WITHOUT_DATABASE=1",
			status:      "0",
			want:        []string{"skipped govulncheck: the", "skipped npm audit: the"},
		},
		{"in Go", "echo GO-2026-1; exit 3", "{}", "SKIP_WITHOUT_DATABASE=1", "3", []string{"GO-2026-1"}},
		{
			name:        "in a library",
			govulncheck: "echo No vulnerabilities found.",
			advisories: `{"rapidoc":[{"id":1,"url":"https://example.com/GHSA-1","title":"Title","severity":"high",` +
				`"vulnerable_versions":"<=9.3.8"}]}`,
			setting: "SKIP_WITHOUT_DATABASE=1",
			status:  "1",
			want:    []string{"No vulnerabilities found.", "rapidoc", "GHSA-1"},
		},
		{"none", "echo No vulnerabilities found.", "{}", "A=1", "0", []string{"No vulnerabilities found.", "found 0 vulnerabilities"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(path string) (int, string) {
				if test.advisories == "" || !strings.HasSuffix(path, "/advisories/bulk") {
					return http.StatusNotFound, ""
				}
				return http.StatusOK, test.advisories
			})
			got := shell(t, root+`/scripts/vulnerabilities.sh sh -c "$PROGRAM"`, "", "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(),
				"npm_config_registry="+url, "PROGRAM="+test.govulncheck, test.setting)
			for _, text := range test.want {
				if !strings.HasPrefix(got, test.status+" ") || !strings.Contains(got, text) {
					t.Errorf("%q does not contain %q, or has another status than %s", got, text, test.status)
				}
			}
		})
	}
}
