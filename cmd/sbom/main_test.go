package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/test/assert"
	"toggleadmin/test/process"
)

const root = "../../"

// The bill of materials names every module that the go command lists as a dependency of a function, in the version of
// go.mod, and the libraries of the web pages.
func TestSBOM(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"go.mod", root+"cmd/sbom", root+"functions/console", root+"pkg")
	folder, err := filepath.Abs(root + ".cache/sbom-here") // kept: if nothing has changed, go build links nothing
	assert.OK(t, err)
	run(t, "build", "-trimpath", "-buildvcs=false", "-tags=lambda.norpc", "-ldflags=-s", "-o", folder+"/",
		"./functions/console", "./cmd/sbom")
	program, sbom := filepath.Join(folder, "console"), filepath.Join(folder, "sbom")
	var printed [2][]byte
	for i := range printed {
		output, err := exec.CommandContext(t.Context(), sbom, program).Output()
		assert.OK(t, err)
		printed[i] = output
	}
	if !bytes.Equal(printed[0], printed[1]) {
		t.Error("the same program gave two different bills of materials")
	}

	var bom cdx.BOM
	assert.OK(t, cdx.NewBOMDecoder(bytes.NewReader(printed[0]), cdx.BOMFileFormatJSON).Decode(&bom))
	var got []string
	for _, component := range *bom.Components {
		got = append(got, strings.TrimSpace(component.Name+" "+component.Version))
	}
	want := strings.Split(strings.TrimSpace(run(t, "list", "-deps", "-tags=lambda.norpc",
		"-f", "{{with .Module}}{{if .Main}}console{{else}}{{.Path}} {{.Version}}{{end}}{{end}}", "./functions/console")),
		"\n")
	want = append(want, "std "+strings.TrimPrefix(strings.TrimSpace(run(t, "env", "GOVERSION")), "go"))
	want = append(want, "oauth4webapi 3.8.8", "rapidoc 9.3.8", "uplot 1.6.32")
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if dependencies := *bom.Dependencies; len(dependencies) != 1 || len(*dependencies[0].Dependencies) != len(got)-1 {
		t.Errorf("dependencies: %v", dependencies)
	}
}

// run runs the go command in the root folder.
func run(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir, command.Env, command.Stderr = root, append(os.Environ(), "GOFLAGS="), os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(arguments, " "), err)
	}
	return string(output)
}
