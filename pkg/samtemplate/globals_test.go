package samtemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// TestGlobals: maps are merged, lists appended, everything else is the function's own; a function call counts as one value.
func TestGlobals(t *testing.T) {
	t.Parallel()
	const globals = `Globals:
  Function:
    Runtime: provided.al2023
    Handler: bootstrap
    MemorySize: 512
    Architectures: [arm64]
    LoggingConfig: {LogFormat: JSON}
    Tags: !If [Never, {a: b}, {c: d}]
    Description: global
Conditions: {Never: !Equals [a, b]}
`
	tests := []struct {
		name, own string
		want      map[string]any
	}{
		{"nothing of its own", "", map[string]any{
			"MemorySize": 512, "Architectures": []any{"arm64"}, "LoggingConfig": map[string]any{"LogFormat": "JSON"},
			"Tags": map[string]any{"c": "d"}, "Description": "global",
		}},
		{"its own", ", MemorySize: 128, Architectures: [x86_64], LoggingConfig: {LogGroup: l}, Tags: {e: f}, Description: !Ref AWS::NoValue",
			map[string]any{
				"MemorySize": 128, "Architectures": []any{"arm64", "x86_64"},
				"LoggingConfig": map[string]any{"LogFormat": "JSON", "LogGroup": "l"}, "Tags": map[string]any{"e": "f"},
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content := api + "  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/f/" + tt.own + "}}\n" + globals
			template := mustParse(t, content, samtemplate.Settings{})
			got := template.Resources[1].Properties
			for _, same := range []string{"CodeUri", "Runtime", "Handler"} {
				delete(got, same)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
