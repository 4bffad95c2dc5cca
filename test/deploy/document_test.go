package deploy_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"toggleadmin/test/helper/assert"
)

// document is a template that tests can change. Intrinsic functions are not evaluated.
type document struct{ root map[string]any }

func readDocument(t *testing.T, file string) *document {
	t.Helper()
	content, err := os.ReadFile(file)
	assert.OK(t, err)
	var d document
	assert.OK(t, yaml.Unmarshal(content, &d.root))
	return &d
}

func (d *document) write(t *testing.T, file string) {
	t.Helper()
	content, err := json.Marshal(d.root) // JSON is YAML
	assert.OK(t, err)
	assert.OK(t, os.WriteFile(file, content, 0o600))
}

// fitEmulator replaces what the emulator does not have. Functions get its URL.
func (d *document) fitEmulator(t *testing.T, url string) {
	t.Helper()
	d.set(t, "Globals.Function.Environment.Variables.DYNAMODB_ENDPOINT", url)
	preferences, _ := at(d.root, "Mappings.Gradual").(map[string]any)
	for preference := range preferences {
		d.set(t, "Mappings.Gradual."+preference+".Enabled", false) // no CodeDeploy
	}
	resources, _ := at(d.root, "Resources").(map[string]any)
	for name, resource := range resources {
		// Neither expressions of metrics nor composite alarms.
		isComposite := at(resource, "Type") == "AWS::CloudWatch::CompositeAlarm"
		if isComposite || at(resource, "Properties.Metrics") != nil {
			d.set(t, "Resources."+name+".Type", "AWS::CloudWatch::Alarm")
			properties := "Resources." + name + ".Properties"
			d.set(t, properties+".Metrics", nil)
			d.set(t, properties+".AlarmRule", nil)
			d.set(t, properties+".Namespace", "AWS/ApiGateway")
			d.set(t, properties+".MetricName", "Count")
			d.set(t, properties+".ComparisonOperator", "GreaterThanOrEqualToThreshold")
			d.set(t, properties+".EvaluationPeriods", 1)
			d.set(t, properties+".Threshold", 1)
		}
	}
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
