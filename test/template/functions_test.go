package template_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// TestOneToOne: functions/<name>/main.go, the resource <Name>Function and events/<name>.json come together.
func TestOneToOne(t *testing.T) {
	t.Parallel()
	var resources []string
	for _, function := range mustLoad(t).Functions {
		resources = append(resources, function.Name)
		if want := pascal(function.Name) + "Function"; function.LogicalID != want {
			t.Errorf("functions/%s has the logical id %s, want %s", function.Name, function.LogicalID, want)
		}
	}
	slices.Sort(resources)
	if diff := cmp.Diff(resources, names(t, "functions/*/main.go", filepath.Dir)); diff != "" {
		t.Errorf("template.yaml and functions/:\n%s", diff)
	}
	withoutExtension := func(path string) string { return strings.TrimSuffix(path, ".json") }
	if diff := cmp.Diff(resources, names(t, "events/*.json", withoutExtension)); diff != "" {
		t.Errorf("template.yaml and events/:\n%s", diff)
	}
}

func names(t *testing.T, pattern string, cut func(string) string) []string {
	t.Helper()
	paths, err := filepath.Glob(root + pattern)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		found = append(found, filepath.Base(cut(path)))
	}
	slices.Sort(found)
	return found
}

func pascal(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// TestArchitectures: one parameter decides for all functions.
func TestArchitectures(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"arm64", "x86_64"} {
		read, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{"Architecture": architecture}})
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range ofType(read, "AWS::Serverless::Function") {
			if diff := cmp.Diff([]any{architecture}, function.Properties["Architectures"]); diff != "" {
				t.Errorf("%s:\n%s", function.LogicalID, diff)
			}
		}
	}
}
