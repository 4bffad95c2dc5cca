package template_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

// everything has each condition of the template hold.
func everything() samtemplate.Settings {
	return samtemplate.Settings{Parameters: map[string]string{
		"DomainName": "toggles.example.com", "HostedZoneId": "Z0123456789ABCDEFGHIJ", "AlarmEmail": "ops@example.com", "Tracing": "true",
		"CertificateArn":       "arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef",
		"DeploymentPreference": "Canary10Percent5Minutes",
	}}
}

// TestNoProblems: the real template has none, as it is deployed by default and with everything that parameters can add.
func TestNoProblems(t *testing.T) {
	t.Parallel()
	metrics := metricsOfCode(t)
	for name, settings := range map[string]samtemplate.Settings{"default": {}, "everything": everything()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := samtemplate.Load(root+"template.yaml", settings)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range template.Problems(read, metrics) {
				t.Error(problem)
			}
		})
	}
}

// metricsOfCode finds what the code writes in CloudWatch's embedded metric format: the texts of each file that names a namespace of ours.
func metricsOfCode(t *testing.T) template.Metrics {
	t.Helper()
	found := template.Metrics{}
	err := filepath.WalkDir(root+"pkg", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		var names, namespaces []string
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				switch {
				case err != nil:
				case strings.HasPrefix(text, "ToggleAdmin/"):
					namespaces = append(namespaces, text)
				default:
					names = append(names, text)
				}
			}
			return true
		})
		for _, namespace := range namespaces {
			found[namespace] = append(found[namespace], names...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
