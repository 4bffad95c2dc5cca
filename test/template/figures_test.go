package template_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/local/samtemplate"
)

// TestFigures checks the figures of docs/traffic.md that follow from the template.
func TestFigures(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	resources := template.Resources
	recorder := resources[slices.IndexFunc(resources,
		func(r samtemplate.Resource) bool { return r.LogicalID == "RecordTrafficFunction" })]
	paths := len(strings.Fields(fmt.Sprint(at(recorder.Properties, "Environment.Variables.COUNTED_PATHS"))))
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
