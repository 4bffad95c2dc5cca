package samlocal_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/test/samlocal"
)

// buildLocally builds for sam local, and holds that a deployment's build stays as it is, or stays away.
func buildLocally(t *testing.T) {
	t.Helper()
	before := deploymentBuild(t)
	command := exec.CommandContext(t.Context(), "make", "build-local")
	command.Dir = root
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "MAKE") })
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make build-local: %v\n%s", err, output)
	}
	if diff := cmp.Diff(before, deploymentBuild(t)); diff != "" {
		t.Fatalf("the local build has changed what is deployed (-before +after):\n%s", diff)
	}
	for _, function := range folders(t) {
		checkBinary(t, filepath.Join(root, ".aws-sam", "local", "build", samlocal.LogicalID(function), "bootstrap"))
	}
}

// deploymentBuild describes each file of .aws-sam but those of the local build.
func deploymentBuild(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	folder := filepath.Join(root, ".aws-sam")
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == folder: // nothing is built yet
			return nil
		case err != nil:
			return err
		case path == filepath.Join(folder, "local"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			found[path] = fmt.Sprintf("%s, %d bytes, of %s", info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkBinary holds that a binary is this machine's and needs no library: a container may have none.
func checkBinary(t *testing.T, path string) {
	t.Helper()
	binary, err := elf.Open(path)
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	defer func() { _ = binary.Close() }()
	libraries, err := binary.ImportedLibraries()
	if binary.Machine != elf.EM_X86_64 || err != nil || len(libraries) > 0 {
		t.Errorf("%s is for %s and needs %q (%v), want x86_64 and none", path, binary.Machine, libraries, err)
	}
}
