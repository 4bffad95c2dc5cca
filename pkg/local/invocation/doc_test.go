package invocation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheTableAndTheTestsAgree holds doc.go's table against the tests: every line played names a test that exists, every test of the
// package is named.
func TestTheTableAndTheTestsAgree(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	doc, err := parser.ParseFile(files, "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"TestTheTableAndTheTestsAgree": true}
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
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && strings.HasPrefix(f.Name.Name, "Test") {
				exists[f.Name.Name] = true
				if !named[f.Name.Name] {
					t.Errorf("doc.go's table has no line for %s", f.Name.Name)
				}
			}
		}
	}
	for name := range named {
		if !exists[name] {
			t.Errorf("doc.go's table names %q, which is no test", name)
		}
	}
}
