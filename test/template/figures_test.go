package template_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/local/samtemplate"
)

// TestFigures checks the figures of pages that follow from the template.
func TestFigures(t *testing.T) {
	t.Parallel()
	template := load(t, nil)
	resources := template.Resources
	recorder := resources[slices.IndexFunc(resources,
		func(r samtemplate.Resource) bool { return r.LogicalID == "RecordTrafficFunction" })]
	operations, methods := 0, 0
	for _, r := range resources {
		events, _ := r.Properties["Events"].(map[string]any)
		for name := range events {
			if at(events, name+".Type") == "Api" {
				methods++
			}
			if name == "Operation" {
				operations++
			}
		}
		others, _ := at(r.Properties, "DefinitionBody.paths").(map[string]any)
		methods += len(others)
	}
	paths := len(strings.Fields(fmt.Sprint(at(recorder.Properties, "Environment.Variables.COUNTED_PATHS"))))
	for page, figures := range map[string][]string{
		"docs/costs.md": {
			fmt.Sprintf("%d, of which %d are operations", methods, operations),
			fmt.Sprintf("on all %d methods", methods),
			fmt.Sprintf("$47 for the %d operations, $%.0f for all %d methods", operations, 1.5*float64(methods), methods),
		},
		"docs/traffic.md": {
			// A partition takes 1,000 write units per second, and a transaction takes two for each item.
			fmt.Sprintf("all %d paths in every batch, its limit is %d batches", paths, 1000/(2*paths)),
			fmt.Sprintf("requires %d lines", 10_000*2*paths/1000),
			fmt.Sprintf("31 × %d × %d = %d items", paths, traffic.Shards, 31*paths*traffic.Shards),
		},
	} {
		text := strings.ReplaceAll(strings.Join(strings.Fields(read(t, page)), " "), ",", "")
		for _, figure := range figures {
			if figure = strings.ReplaceAll(figure, ",", ""); !strings.Contains(text, figure) {
				t.Errorf("%s does not contain %q, without commas", page, figure)
			}
		}
	}
}
