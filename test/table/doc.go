package table

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	row      = regexp.MustCompile(`(?m)^//\t[^|]*\|[^|]*\| (.*)$`)
	function = regexp.MustCompile(`(?m)^func (Test[^(]*)\(t `)
)

// CheckDoc reads the table behavior | source | test in the package comment of a file in the working directory. Each row
// must name a test that exists: one of this folder, or one of a package, such as "pkg/platform/datetime TestParse". The
// table must name each test of this folder, except the calling test.
func CheckDoc(t *testing.T, file string) {
	t.Helper()
	unnamed := matches(t, function, "*_test.go")
	delete(unnamed, t.Name())
	for name := range matches(t, row, file) {
		folder, test, elsewhere := strings.Cut(name, " ")
		if !elsewhere {
			folder, test = ".", name
		} else {
			folder = filepath.Join("..", "..", folder)
		}
		if !matches(t, function, filepath.Join(folder, "*_test.go"))[test] && test != "test" {
			t.Errorf("the table of %s names %q, which does not exist", file, name)
		}
		delete(unnamed, name)
	}
	for name := range unnamed {
		t.Errorf("the table of %s does not name %s", file, name)
	}
}

// matches returns the set of first groups of all matches in the files.
func matches(t *testing.T, expression *regexp.Regexp, pattern string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range expression.FindAllStringSubmatch(string(text), -1) {
			found[strings.TrimSpace(match[1])] = true
		}
	}
	return found
}
