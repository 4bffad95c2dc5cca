package checkpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/local/checkpoint"
)

func TestAStateIsKept(t *testing.T) {
	t.Parallel()
	f := checkpoint.File{Path: filepath.Join(t.TempDir(), "state.json")}
	state := "as it was"
	if err := f.Load(&state); err != nil || state != "as it was" {
		t.Fatalf("nothing is kept yet: %q, %v", state, err)
	}
	for _, want := range []string{"a", "b"} {
		if err := f.Save(want); err != nil {
			t.Fatal(err)
		}
		if err := f.Load(&state); err != nil || state != want {
			t.Fatalf("got %q, %v, want %q", state, err, want)
		}
	}
	if err := os.WriteFile(f.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&state); err == nil || !strings.Contains(err.Error(), f.Path) {
		t.Errorf("a broken file: %v", err)
	}
}

func TestTheZeroFileKeepsNothing(t *testing.T) {
	t.Parallel()
	var f checkpoint.File
	state := 1
	if err := f.Save(2); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&state); err != nil || state != 1 {
		t.Errorf("%d, %v", state, err)
	}
}
