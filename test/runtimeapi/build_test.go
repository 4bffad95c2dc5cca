package runtimeapi_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// A noun that reaches for another one's package makes every cold start of its functions longer: this table is where that shows.
func TestFunctionsLinkTheirOwnNounsAlone(t *testing.T) {
	t.Parallel()
	nouns := map[string][]string{
		"authorizer":                   {"apitoken", "authorizer", "pat", "user"},
		"create-service-account-token": {"pat", "user"},
		"delete-own-token":             {"pat", "user"},
		"get-traffic-usage":            {"traffic"},
		"list-context-fields":          {"contextfield"},
		"list-feature-types":           {"featuretype"},
		"not-found":                    {"notfound"},
		"record-traffic":               {"traffic"},
		"reevaluate-staleness":         {"feature", "featuretype", "staleness"},
		"sweep-staleness":              {"feature", "featuretype", "staleness"},
		"update-feature-type-lifetime": {"featuretype"},
		"update-feedback":              {"feedback", "user"},
	}
	ground := []string{"apierror", "app", "auth", "datetime", "dynamo", "jsonbody", "lambdahttp"}
	for _, name := range functions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var linked []string
			for _, path := range goList(t, name, "{{.ImportPath}}") {
				if noun, ok := strings.CutPrefix(path, "toggleadmin/pkg/"); ok && !slices.Contains(ground, noun) {
					linked = append(linked, noun)
				}
			}
			slices.Sort(linked)
			if diff := cmp.Diff(nouns[name], linked); diff != "" {
				t.Errorf("nouns (-want +got):\n%s", diff)
			}
		})
	}
}

// The proxy library's module names web frameworks by the dozen; net/rpc is what the build tag lambda.norpc leaves out.
func TestFunctionsLinkNothingElse(t *testing.T) {
	t.Parallel()
	const proxy = "github.com/awslabs/aws-lambda-go-api-proxy"
	modules := regexp.MustCompile(`^(toggleadmin|github\.com/(aws/(aws-lambda-go|aws-sdk-go-v2.*|smithy-go)|google/uuid|go-json-experiment/json)|` +
		proxy + `)$`)
	for _, name := range functions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range goList(t, name, "{{.ImportPath}}") {
				adapter := path == proxy+"/core" || path == proxy+"/httpadapter"
				if strings.HasPrefix(path, proxy) && !adapter || path == "net/rpc" || path == "testing" {
					t.Errorf("links %s", path)
				}
			}
			for _, path := range goList(t, name, "{{with .Module}}{{.Path}}{{end}}") {
				if !modules.MatchString(path) {
					t.Errorf("links the module %s", path)
				}
			}
		})
	}
}

// functions lists the folders of functions/.
func functions(t *testing.T) []string {
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

// build builds functions, all of them where none is named, for this machine and with the flags of a deployment, into a folder with
// one binary for each.
func build(t *testing.T, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	arguments := []string{"build", "-o", folder + string(filepath.Separator)}
	for _, name := range names {
		arguments = append(arguments, "./functions/"+name)
	}
	if len(names) == 0 {
		arguments = append(arguments, "./functions/...")
	}
	goCommand(t, arguments...)
	return folder
}

// goList lists what the function is linked from, in go list's format, each value once.
func goList(t *testing.T, name, format string) []string {
	t.Helper()
	all := strings.Fields(goCommand(t, "list", "-deps", "-f", format, "./functions/"+name))
	slices.Sort(all)
	return slices.Compact(all)
}

// goCommand runs go as the Makefile's build target does.
func goCommand(t *testing.T, arguments ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+deploymentFlags(t))
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, &stderr)
	}
	return string(output)
}

// deploymentFlags are the Makefile's.
func deploymentFlags(t *testing.T) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^FUNCTION_FLAGS := (.+)$`).FindSubmatch(makefile)
	if match == nil {
		t.Fatal("the Makefile has no FUNCTION_FLAGS")
	}
	return string(match[1])
}
