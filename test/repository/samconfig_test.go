package repository_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A build for sam local, of another architecture than what is deployed, stays out of deployments: it has an environment of samconfig.toml
// and a folder of its own, and neither is named where something is deployed.
func TestLocalBuildStaysOutOfDeployments(t *testing.T) {
	t.Parallel()
	ofLocal := regexp.MustCompile(`x86_64|amd64|\.aws-sam/local|DynamoDBEndpoint|host\.docker\.internal`)
	var environments []string
	for _, s := range samconfig(t) {
		environment, command, _ := strings.Cut(s.name, ".")
		command, _, _ = strings.Cut(command, ".")
		environments = append(environments, environment)
		switch found := ofLocal.FindString(s.text); {
		case environment == "local" && !slices.Contains([]string{"global", "validate", "build", "local_start_api", "local_invoke"}, command):
			t.Errorf("samconfig.toml: [%s]: local is not for %s", s.name, command)
		case environment == "local" && command == "global" && strings.Contains(s.text, "stack_name"):
			t.Errorf("samconfig.toml: [%s] names a stack", s.name)
		case environment != "local" && found != "":
			t.Errorf("samconfig.toml: [%s] names %s, which is for local alone", s.name, found)
		case environment == "local" && command == "build" && !strings.Contains(s.text, `build_dir = ".aws-sam/local/build"`):
			t.Errorf("samconfig.toml: [%s] does not build in .aws-sam/local/build", s.name) // its build.toml is then beside it, too
		}
	}
	for _, environment := range []string{"default", "staging", "prod", "local"} {
		if !slices.Contains(environments, environment) {
			t.Errorf("samconfig.toml has no environment %s", environment)
		}
	}
}

func TestMakefileDeploysNoLocalBuild(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	deploys := regexp.MustCompile(`\bsam (deploy|sync|package)\b`)
	ofLocal := regexp.MustCompile(`x86_64|amd64|\.aws-sam/local|--config-env local|\blocal\b`)
	for line := range bytes.Lines(makefile) {
		if deploys.Match(line) && ofLocal.Match(line) {
			t.Errorf("Makefile: a deployment names what is for sam local: %s", bytes.TrimSpace(line))
		}
	}
}

// section is a table of a TOML file: its name, as environment.command.parameters, and its lines without comments.
type section struct{ name, text string }

// samconfig reads samconfig.toml, whose strings hold no #.
func samconfig(t *testing.T) []section {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var sections []section
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if name, ok := strings.CutPrefix(line, "["); ok {
			sections = append(sections, section{name: strings.TrimSuffix(strings.TrimSpace(name), "]")})
		} else if len(sections) > 0 {
			sections[len(sections)-1].text += line + "\n"
		}
	}
	if len(sections) == 0 {
		t.Fatal("samconfig.toml has no sections")
	}
	return sections
}
