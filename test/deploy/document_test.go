package deploy_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// document is a template that tests can change. Intrinsic functions are not evaluated.
type document struct{ root map[string]any }

func readDocument(t *testing.T, file string) *document {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	var d document
	must(t, yaml.Unmarshal(content, &d.root))
	return &d
}

func (d *document) write(t *testing.T, file string) {
	t.Helper()
	content, err := json.Marshal(d.root) // JSON is YAML
	must(t, err)
	must(t, os.WriteFile(file, content, 0o600))
}

// at returns the value at a dotted path of maps and lists, or nil.
func at(value any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch container := value.(type) {
		case map[string]any:
			value = container[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(container) {
				return nil
			}
			value = container[i]
		default:
			return nil
		}
	}
	return value
}

// set sets a member of an existing map. nil removes it.
func (d *document) set(t *testing.T, path string, value any) {
	t.Helper()
	i := strings.LastIndexByte(path, '.')
	parent, ok := at(d.root, path[:i]).(map[string]any)
	if !ok {
		t.Fatalf("the template has no %s", path[:i])
	}
	if value == nil {
		delete(parent, path[i+1:])
	} else {
		parent[path[i+1:]] = value
	}
}

// prepare changes what the emulator cannot do. Functions get the address of DynamoDB in their variable, not by the
// parameter, so that all conditions are evaluated as on AWS.
func (d *document) prepare(t *testing.T, address string) {
	t.Helper()
	d.set(t, "Globals.Function.Environment.Variables.DYNAMODB_ENDPOINT", address)
	preferences, _ := at(d.root, "Mappings.Gradual").(map[string]any)
	for preference := range preferences {
		d.set(t, "Mappings.Gradual."+preference+".Enabled", false) // the emulator has no CodeDeploy
	}
}

// functions returns the logical IDs of the functions, sorted.
func (d *document) functions() (ids []string) {
	resources, _ := d.root["Resources"].(map[string]any)
	for id, resource := range resources {
		if at(resource, "Type") == "AWS::Serverless::Function" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
