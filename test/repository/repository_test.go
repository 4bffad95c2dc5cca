package repository_test

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toggleadmin/test/process"
)

const root = "../.."

func TestNamesNoPathOfAMachine(t *testing.T) {
	t.Parallel()
	absolute := regexp.MustCompile(`(^|[^\w.})*-])/(work|root|home|Users)/`)
	eachLine(t, func(file string, number int, line string) {
		if absolute.MatchString(line) {
			t.Errorf("%s:%d names a path of one machine: %s", file, number, strings.TrimSpace(line))
		}
	})
}

func TestNamesNoRegistryHost(t *testing.T) {
	t.Parallel()
	hosts := registryHosts(t)
	eachLine(t, func(file string, number int, line string) {
		for _, host := range hosts {
			if strings.Contains(line, host) {
				t.Errorf("%s:%d names the package registry %s, which is each machine's own setting", file, number, host)
			}
		}
	})
}

// registryHosts returns the hosts of public package registries and of this machine's GOPROXY. The names are
// assembled here because this file is checked, too.
func registryHosts(t *testing.T) []string {
	t.Helper()
	var hosts []string
	for domain, names := range map[string][]string{
		"golang.org":       {"proxy", "sum"},
		"npmjs.org":        {"registry"},
		"yarnpkg.com":      {"registry"},
		"pythonhosted.org": {"files"},
		"maven.org":        {"repo1"},
		"apache.org":       {"repo.maven"},
		"debian.org":       {"deb", "security"},
	} {
		for _, name := range names {
			hosts = append(hosts, name+"."+domain)
		}
	}
	setting, err := exec.CommandContext(t.Context(), "go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatalf("ask for GOPROXY: %v", err)
	}
	for proxy := range strings.FieldsFuncSeq(strings.TrimSpace(string(setting)),
		func(r rune) bool { return r == ',' || r == '|' }) {
		address, err := url.Parse(proxy)
		if err == nil && strings.Contains(address.Hostname(), ".") {
			hosts = append(hosts, address.Hostname())
		}
	}
	return hosts
}

// Files and folders that a page names exist: `pkg/platform/access`, `pkg/*/*_test.go`, `functions/<verb-noun>`.
func TestPagesNamePathsThatExist(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("`((?:api|cmd|events|functions|pkg|scripts|test)/[^`\\s…]+)`")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("docs has no pages: %v", err)
	}
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		pages = append(pages, filepath.Join(root, page))
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range quoted.FindAllStringSubmatch(string(content), -1) {
			pattern := regexp.MustCompile("<[^>]+>").ReplaceAllString(match[1], "*")
			if found, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, match[1])
			}
		}
	}
}

// Links of pages lead to files and headings that exist.
func TestLinks(t *testing.T) {
	t.Parallel()
	tree, pages := os.DirFS(root), map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, _ := fs.Glob(tree, pattern)
		for _, name := range names {
			content, err := fs.ReadFile(tree, name)
			if err != nil {
				t.Fatal(err)
			}
			pages[name] = string(content)
		}
	}
	link, heading := regexp.MustCompile(`\]\(([^)#\s]*)#?([^)\s]*)\)`), regexp.MustCompile(`(?m)^#+ (.*)$`)
	for page, text := range pages {
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

// TestColumns checks the length of lines in YAML and TOML, which golangci-lint checks in Go.
func TestColumns(t *testing.T) {
	t.Parallel()
	const most = 120
	eachLine(t, func(file string, number int, line string) {
		if slices.Contains([]string{".yaml", ".yml", ".toml"}, filepath.Ext(file)) &&
			utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > most {
			t.Errorf("%s:%d has more than %d columns", file, number, most)
		}
	})
}

func TestPackageNamesAreSpecific(t *testing.T) {
	t.Parallel()
	empty := []string{"common", "helper", "helpers", "misc", "types", "util", "utils"}
	eachFile(t, func(file string, _ []byte) {
		if folder := filepath.Base(filepath.Dir(file)); slices.Contains(empty, folder) {
			t.Errorf("%s: the name of the folder is not specific", file)
		}
	})
}

// eachLine calls do for every line of every text file, with numbers from 1.
func eachLine(t *testing.T, do func(file string, number int, line string)) {
	t.Helper()
	eachFile(t, func(file string, content []byte) {
		number := 0
		for line := range bytes.Lines(content) {
			number++
			do(file, number, string(line))
		}
	})
}

// eachFile calls do for every text file of the tree, by its path from the root. Ignored folders are skipped.
func eachFile(t *testing.T, do func(file string, content []byte)) {
	t.Helper()
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	skip := append(strings.Split(string(ignored), "\n"), "/.git/")
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
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
	if err != nil {
		t.Fatalf("walk the tree: %v", err)
	}
}

// Pages and the example pipeline run only targets of the Makefile.
func TestPagesNameTargets(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	run := regexp.MustCompile("(?:`|- run: |^\\s*|[(&;] ?)make (?:-s )?([a-z][a-z0-9-]*)")
	eachLine(t, func(file string, number int, line string) {
		if !strings.HasSuffix(file, ".md") && file != "docs/github-actions.yml" {
			return
		}
		for _, match := range run.FindAllStringSubmatch(line, -1) {
			if !bytes.Contains(makefile, []byte("\n"+match[1]+":")) {
				t.Errorf("%s:%d names the target %s, which does not exist", file, number, match[1])
			}
		}
	})
}

// Actions of pipelines are pinned by the commit: a tag can be moved.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	pinned, found := regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d`), 0
	eachLine(t, func(file string, number int, line string) {
		if strings.HasPrefix(strings.TrimSpace(line), "- uses: ") {
			found++
			if !pinned.MatchString(line) {
				t.Errorf("%s:%d: %s", file, number, line)
			}
		}
	})
	if found == 0 {
		t.Error("no pipeline uses an action")
	}
}

// Files with credentials that commands of the pages write into the checkout are ignored by git.
func TestCredentialsAreIgnored(t *testing.T) {
	t.Parallel()
	written, found := regexp.MustCompile(`(?: >|-o )(\w+\.json|token\.txt)\b`), 0
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	eachLine(t, func(file string, _ int, line string) {
		if !strings.HasSuffix(file, ".md") {
			return
		}
		for _, match := range written.FindAllStringSubmatch(line, -1) {
			found++
			if !strings.Contains(string(ignored), "\n/"+match[1]+"\n") {
				t.Errorf("%s writes %s, which git does not ignore", file, match[1])
			}
		}
	})
	if found == 0 {
		t.Error("no page writes a file")
	}
}

// make help shows each target once, and first the few that a newcomer needs.
func TestHelp(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), "make", "-s", "-C", root, "help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	first, _, _ := strings.Cut(string(output), "\n\n")
	if lines := strings.Split(first, "\n"); len(lines) != 6 || lines[0] != "start:" ||
		!strings.HasPrefix(lines[1], "  run ") {
		t.Errorf("the first group is %q", lines)
	}
	for _, match := range regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):.*## `).FindAllStringSubmatch(string(makefile), -1) {
		if n := len(regexp.MustCompile(`(?m)^  `+match[1]+` +[A-Z]`).FindAllString(string(output), -1)); n != 1 {
			t.Errorf("make help has %d lines about %s", n, match[1])
		}
	}
}

// Without Go, make run says so before it installs anything.
func TestRunWithoutGo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, tool := range []string{"make", "sh", "sed", "awk", "bash"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(folder, tool)); err != nil {
			t.Fatal(err)
		}
	}
	for _, target := range []string{"run", "watch", "test"} {
		command := exec.CommandContext(t.Context(), filepath.Join(folder, "make"), "-s", "-C", root, "-W", "package.json",
			target)
		command.Env = []string{"PATH=" + folder}
		output, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(output), "Go is missing") || strings.Contains(string(output), "npm") {
			t.Errorf("make %s without Go: %v, %s", target, err, output)
		}
	}
}

// make watch sees every embedded file.
func TestWatchSeesEmbeddedFiles(t *testing.T) {
	t.Parallel()
	settings, err := os.ReadFile(filepath.Join(root, ".air.toml"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "list", "-f",
		"{{$d := .Dir}}{{range .EmbedFiles}}{{$d}}/{{.}}\n{{end}}", "./pkg/...")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(output)) {
		name, _ := filepath.Rel(top, file)
		if strings.Contains(name, "/vendor/") {
			continue // written by make console
		}
		extension := strings.TrimPrefix(filepath.Ext(name), ".")
		if !bytes.Contains(settings, []byte(`"`+extension+`"`)) && !bytes.Contains(settings, []byte(`"`+name+`"`)) {
			t.Errorf("make watch does not see %s", name)
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
	if err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob(filepath.Join(top, "test", "simulation", "testdata", "*.patch"))
	if err != nil || len(patches) == 0 {
		t.Fatalf("there are no patches: %v", err)
	}
	process.DependOn(t, append(patches, filepath.Join(top, "pkg"))...)
	for _, patch := range patches {
		command := exec.CommandContext(t.Context(), git, "apply", "--check", patch)
		command.Dir = top
		// In a repository around the tree, git would check nothing.
		command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(top))
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply: %v\n%s", filepath.Base(patch), err, output)
		}
	}
}
