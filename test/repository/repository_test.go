package repository_test

import (
	"bytes"
	"go/parser"
	"go/token"
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

// maxMainLines keeps a function's main to wiring.
const maxMainLines = 25

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

// registryHosts lists hosts of package registries: the public ones, and those that this machine's Go is set to. They are put
// together here because this file is looked at too.
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

// In the bubble of testing/synctest time is false, and a sleep costs nothing.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	sleep := []byte(strings.Join([]string{"time", "Sleep("}, "."))
	eachFile(t, func(file string, content []byte) {
		isTest := strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "test/") && strings.HasSuffix(file, ".go")
		if isTest && bytes.Contains(content, sleep) && !bytes.Contains(content, []byte(`"testing/synctest"`)) {
			t.Errorf("%s sleeps; wait for a condition", file)
		}
	})
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	eachFile(t, func(file string, content []byte) {
		if !strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata/") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Errorf("read the package clause: %v", err)
			return
		}
		folder := filepath.Dir(file)
		documented[folder] = documented[folder] || strings.TrimSpace(parsed.Doc.Text()) != ""
	})
	for folder, has := range documented {
		if !has {
			t.Errorf("%s has no package comment", folder)
		}
	}
}

// A folder or file of the tree that a page for people names is there: `pkg/auth`, `pkg/*/*_test.go`, `functions/<verb-noun>`.
func TestPagesNamePathsThatExist(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("`((?:api|cmd|events|functions|pkg|scripts|test)/[^`\\s…]+)`")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there is no page in docs: %v", err)
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

func TestPackageNamesSaySomething(t *testing.T) {
	t.Parallel()
	empty := []string{"common", "helper", "helpers", "misc", "types", "util", "utils"}
	eachFile(t, func(file string, _ []byte) {
		if folder := filepath.Base(filepath.Dir(file)); slices.Contains(empty, folder) {
			t.Errorf("%s: the folder's name says nothing", file)
		}
	})
}

func TestMainsOfFunctionsOnlyWire(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(mains) == 0 {
		t.Fatal("there are no functions")
	}
	for _, name := range mains {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > maxMainLines {
			t.Errorf("%s has %d lines, more than %d", name, lines, maxMainLines)
		}
	}
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

// eachFile calls do for every text file of the tree, by its path from the root. Folders that .gitignore names are left out.
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
