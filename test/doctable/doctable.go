// Package doctable holds a table in a package's documentation, behaviour | source | test, against the package's tests.
package doctable

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Check reads the package comment of a file in the calling test's folder: every line of its table must name a test that exists there, and
// every test but the calling one must be named.
func Check(t *testing.T, file string) {
	t.Helper()
	files := token.NewFileSet()
	doc, err := parser.ParseFile(files, file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{t.Name(): true}
	for line := range strings.Lines(doc.Doc.Text()) {
		if columns := strings.Split(line, "|"); len(columns) == 3 && !strings.Contains(columns[0], "behaviour") {
			named[strings.TrimSpace(columns[2])] = true
		}
	}
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, name := range names {
		tests, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tests.Decls {
			if f, is := d.(*ast.FuncDecl); is && strings.HasPrefix(f.Name.Name, "Test") {
				exists[f.Name.Name] = true
				if !named[f.Name.Name] {
					t.Errorf("the table of %s has no line for %s", file, f.Name.Name)
				}
			}
		}
	}
	for name := range named {
		if !exists[name] {
			t.Errorf("the table of %s names %q, which is no test", file, name)
		}
	}
}
