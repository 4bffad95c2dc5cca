// Package repository_test checks the source tree as a whole: lines, pages, make targets, scripts, the rules of the linter,
// and the list of files for a new operation.
package repository_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	assert.OK(t, err)
	return string(content)
}

// run runs a command in the root folder and returns its output.
func run(t *testing.T, program string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = root
	output, err := command.CombinedOutput()
	return string(output), err
}

// TestLines checks what no line of a file may contain.
func TestLines(t *testing.T) {
	t.Parallel()
	type rule struct{ files, anywhere, forbidden, except *regexp.Regexp }
	var rules []rule
	registry := strings.ReplaceAll(strings.Join(registryHosts(t), "|"), ".", `\.`)
	for _, test := range []struct{ files, forbidden, except string }{
		// A path of one machine, or a package registry, which is each machine's own setting.
		{".", `(^|[^\w.})*-])/(work|root|home|Users)/`, "^$"},
		{".", registry, "^$"},
		// More columns than golangci-lint permits in Go.
		{`\.(ya?ml|toml)$`, "^.{121}", "^$"},
		// Prose with more than 100 columns. A row of a table is one line.
		{`\.md$`, "^.{101}", `^\|.*`},
		{"^(Makefile|scripts/[^/]+)$", `^\s*#.{100}`, "^#   .*"},
		// An action of a pipeline by a tag, which can be moved.
		{".", `^\s*- uses:`, `uses: [\w./-]+@[0-9a-f]{40} # v\d`},
		// One partition of AWS, such as aws-cn. The names of services are the same in all.
		{
			files:     `^(template.yaml|samconfig.toml|scripts/[^/]+\.[^/]+|docs/deployer-policy.*)$`,
			forbidden: `arn:aws:|amazonaws\.|aws\.amazon\.`,
			except:    `(lambda|apigateway|ops\.apigateway|scheduler|events)\.amazonaws\.com`,
		},
		// It returns 100 resources of a stack that has more. Use list-stack-resources.
		{"^(docs|scripts)/", "describe[-_]stack[-_]resources", "^$"},
		// A waived check without a reason.
		{`^\.checkov.yaml$`, `^\s`, `^  - CKV2?_AWS_\d+ # [A-Z].{30,}\.$`},
		// Secrets.
		{
			files:     `^(template.yaml|samconfig.toml|\.checkov.yaml)$`,
			forbidden: `AKIA[0-9A-Z]{16}|PRIVATE KEY|:v2_|\.v2_|NoEcho|(?i)password|resolve:`,
			except:    "^$",
		},
	} {
		rules = append(rules, rule{
			files:     regexp.MustCompile(test.files),
			anywhere:  regexp.MustCompile("(?m)" + test.forbidden), // most files have no such line
			forbidden: regexp.MustCompile(test.forbidden),
			except:    regexp.MustCompile(test.except),
		})
	}
	eachFile(t, func(file string, content []byte) {
		for _, r := range rules {
			if !r.files.MatchString(file) || !r.anywhere.Match(content) {
				continue
			}
			for i, line := range strings.Split(string(content), "\n") {
				if r.forbidden.MatchString(line) && r.forbidden.MatchString(r.except.ReplaceAllString(line, "")) {
					t.Errorf("%s:%d contains %s: %s", file, i+1, r.forbidden, line)
				}
			}
		}
	})
}

// registryHosts returns the hosts of public package registries and of this machine's GOPROXY. The names are
// assembled here because this file is checked, too.
func registryHosts(t *testing.T) []string {
	t.Helper()
	hosts := strings.Fields(strings.ReplaceAll(`
		proxy~golang.org sum~golang.org registry~npmjs.org registry~yarnpkg.com files~pythonhosted.org
		repo1~maven.org repo.maven~apache.org deb~debian.org security~debian.org
	`, "~", "."))
	setting, err := run(t, "go", "env", "GOPROXY")
	assert.OK(t, err)
	for _, proxy := range regexp.MustCompile(`://(?:[^/@,|]*@)?([^/:,|\s]+\.[^/:,|\s]+)`).FindAllStringSubmatch(setting, -1) {
		hosts = append(hosts, proxy[1])
	}
	return hosts
}

// TestPages checks that the files and folders that a page names exist, such as `pkg/platform/access`,
// `pkg/*/*_test.go` and `functions/<verb-noun>`, and that links lead to files and headings that exist.
func TestPages(t *testing.T) {
	t.Parallel()
	tree, pages := os.DirFS(root), map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, _ := fs.Glob(tree, pattern)
		for _, name := range names {
			pages[name] = read(t, name)
		}
	}
	link, heading := regexp.MustCompile(`\]\(([^)#\s]*)#?([^)\s]*)\)`), regexp.MustCompile(`(?m)^#+ (.*)$`)
	quoted := regexp.MustCompile("`((?:api|cmd|events|functions|pkg|scripts|test)/[^`\\s…]+)`")
	for page, text := range pages {
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			pattern := regexp.MustCompile("<[^>]+>").ReplaceAllString(match[1], "*")
			if found, err := fs.Glob(tree, strings.TrimSuffix(pattern, "/")); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, match[1])
			}
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(page), match[1])
			if match[1] == "" {
				target = page
			}
			if strings.Contains(match[1], "://") {
				continue
			}
			if _, err := fs.Stat(tree, target); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			var anchors []string // as GitHub makes them
			for _, h := range heading.FindAllStringSubmatch(pages[target], -1) {
				kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
				anchors = append(anchors, strings.ReplaceAll(kept, " ", "-"))
			}
			if match[2] != "" && !slices.Contains(anchors, match[2]) {
				t.Errorf("%s: %s has no heading #%s", page, target, match[2])
			}
		}
	}
}

// eachFile calls do for every text file of the tree, by its path from the root. Ignored folders are skipped.
func eachFile(t *testing.T, do func(file string, content []byte)) {
	t.Helper()
	skip := append(strings.Split(read(t, ".gitignore"), "\n"), "/.git/")
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skip, "/"+name+"/"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || name == ".git":
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err == nil && utf8.Valid(content) {
			do(name, content)
		}
		return err
	})
	assert.OK(t, err)
}

// TestDeclared checks names in pages: each target that a page or the example pipeline runs is one of the Makefile, and
// git ignores each file with credentials that a command writes into the checkout.
func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ files, name, declaredIn, declaration string }{
		{
			files:       `\.md$|^docs/github-actions.yml$`,
			name:        `(?m)(?:\x60|- run:\s|^[ \t]*|[(&;]\s?)make (?:-s )?([a-z][a-z0-9-]*)`,
			declaredIn:  "Makefile",
			declaration: "\nNAME:",
		},
		{`\.md$`, `(?: >|-o )(\w+\.json|token\.txt)\b`, ".gitignore", "\n/NAME\n"},
	} {
		files, name := regexp.MustCompile(test.files), regexp.MustCompile(test.name)
		declared, found := read(t, test.declaredIn), 0
		eachFile(t, func(file string, content []byte) {
			if !files.MatchString(file) {
				return
			}
			for _, match := range name.FindAllStringSubmatch(string(content), -1) {
				found++
				if !strings.Contains(declared, strings.ReplaceAll(test.declaration, "NAME", match[1])) {
					t.Errorf("%s names %s, which is not in %s", file, match[1], test.declaredIn)
				}
			}
		})
		if found == 0 {
			t.Errorf("there is no %s", test.name)
		}
	}
}

// Without Go, make run says so before it installs anything.
func TestRunWithoutGo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	linking := `for tool in make sh sed awk bash; do ln -s "$(command -v $tool)" ` + folder + " || exit 1; done"
	if output, err := run(t, "sh", "-c", linking); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, target := range []string{"run", "watch", "test"} {
		output, err := run(t, "env", "-i", "PATH="+folder, folder+"/make", "-s", "-W", "package.json", target)
		if err == nil || !strings.Contains(output, "Go is missing") || strings.Contains(output, "npm") {
			t.Errorf("make %s without Go: %v, %s", target, err, output)
		}
	}
}

// Every planted bug of the simulation applies to the tree.
func TestPlantedBugsApply(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	top, err := filepath.Abs(root)
	assert.OK(t, err)
	patches, err := filepath.Glob(filepath.Join(top, "test", "simulation", "testdata", "*.patch"))
	if err != nil || len(patches) == 0 {
		t.Fatalf("there are no patches: %v", err)
	}
	process.DependOn(t, append(patches, filepath.Join(top, "pkg"))...)
	for _, patch := range patches {
		// In a repository around the tree, git would check nothing.
		output, err := run(t, "env", "GIT_CEILING_DIRECTORIES="+filepath.Dir(top), git, "apply", "--check", patch)
		if err != nil {
			t.Errorf("%s does not apply: %v\n%s", filepath.Base(patch), err, output)
		}
	}
}
