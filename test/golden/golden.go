// Package golden compares values with files.
package golden

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// JSON compares the JSON form of a value with the content of a file.
func JSON(tb testing.TB, path string, got any) {
	tb.Helper()
	content, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), string(content)+"\n"); diff != "" || err != nil {
		tb.Errorf("%s: error %v, JSON (-want +got):\n%s", path, err, diff)
	}
}
