package template_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
)

// TestFigures checks the figures of docs/traffic.md that follow from the template.
func TestFigures(t *testing.T) {
	t.Parallel()
	counted := ""
	for _, f := range load(t, nil).Functions {
		if f.Name == "record-traffic" {
			counted = f.Environment["COUNTED_PATHS"]
		}
	}
	paths := len(strings.Fields(counted))
	text := strings.ReplaceAll(strings.Join(strings.Fields(read(t, "docs/traffic.md")), " "), ",", "")
	for _, figure := range []string{
		// A partition takes 1,000 write units per second, and a transaction takes two for each item.
		fmt.Sprintf("all %d paths in every batch its limit is %d batches", paths, 1000/(2*paths)),
		fmt.Sprintf("requires %d lines", 10_000*2*paths/1000),
		fmt.Sprintf("31 × %d × %d = %d items", paths, traffic.Shards, 31*paths*traffic.Shards),
	} {
		if !strings.Contains(text, figure) {
			t.Errorf("docs/traffic.md does not contain %q, without commas", figure)
		}
	}
}
