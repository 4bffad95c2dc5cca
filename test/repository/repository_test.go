package repository_test

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
	for proxy := range strings.FieldsFuncSeq(strings.TrimSpace(string(setting)), func(r rune) bool { return r == ',' || r == '|' }) {
		address, err := url.Parse(proxy)
		if err == nil && strings.Contains(address.Hostname(), ".") {
			hosts = append(hosts, address.Hostname())
		}
	}
	return hosts
}

// Files and folders that a page names exist: `pkg/auth`, `pkg/*/*_test.go`, `functions/<verb-noun>`.
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
