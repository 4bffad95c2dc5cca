package template_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/local/samtemplate"
)

const root = "../../"

// everything are parameters with which every condition of the template is true.
var everything = map[string]string{
	"DomainName": "toggles.example.com", "HostedZoneId": "Z0123456789ABCDEFGHIJ", "AlarmEmail": "ops@example.com",
	"Tracing":    "true",
	"Monitoring": "alarms-and-dashboard", "DeploymentPreference": "Canary10Percent5Minutes", "ReservedConcurrency": "10",
	"SendEventsToBus": "true", "WebhookSecretName": "/aws/reference/secretsmanager/toggles/webhook",
	"OidcIssuer": "https://issuer.example.com", "OidcClientId": "console", "OidcDefaultRole": "Viewer",
	"CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef",
	"WebAclArn":      "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/floods/01234567-89ab-cdef-0123-456789abcdef",
}

// alarms are the parameters of a stack with alarms.
var alarms = map[string]string{"Monitoring": "alarms", "AlarmEmail": everything["AlarmEmail"]}

// load reads the template with the given parameters.
func load(tb testing.TB, parameters map[string]string) *samtemplate.Template {
	tb.Helper()
	t, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: parameters})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	content, err := os.ReadFile(root + file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

// at returns the value at a dotted path of nested maps, or nil.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[key]
	}
	return value
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// TestTemplate checks the template with its defaults and with everything that parameters add.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for _, parameters := range []map[string]string{alarms, everything} {
		for _, problem := range newChecker(t).check(load(t, parameters).Resources) {
			t.Error(problem)
		}
	}
}

// TestMonitoring checks the number of alarms and dashboards, which are most of the cost of an idle month
// (docs/costs.md).
func TestMonitoring(t *testing.T) {
	t.Parallel()
	const most = 15 // an alarm is for a condition that needs an operator
	for value, want := range map[string][2]int{"alarms": {most, 0}, "alarms-and-dashboard": {most, 1}, "none": {}} {
		got := map[string]int{}
		parameters := map[string]string{"Monitoring": value}
		if value != "none" {
			parameters["AlarmEmail"] = everything["AlarmEmail"]
		} else {
			// each can have an alarm
			for _, name := range []string{"SendEventsToBus", "WebhookSecretName", "DomainName", "CertificateArn"} {
				parameters[name] = everything[name]
			}
		}
		for _, r := range load(t, parameters).Resources {
			got[r.Type]++
		}
		if alarms, dashboards := got["AWS::CloudWatch::Alarm"], got["AWS::CloudWatch::Dashboard"]; alarms > want[0] ||
			dashboards != want[1] {
			t.Errorf("%s: %d alarms and %d dashboards, want at most %d and %d", value, alarms, dashboards, want[0], want[1])
		}
	}
}

// TestRemovals removes parts of the template, one at a time, and expects a problem that names the part.
func TestRemovals(t *testing.T) {
	t.Parallel()
	checker := newChecker(t)
	resources := load(t, everything).Resources
	removed := map[string]int{}
	expect := func(kind string, names ...string) {
		removed[kind]++
		problems := checker.check(resources)
		if !slices.ContainsFunc(problems, func(problem string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(problem, name) })
		}) {
			t.Errorf("%s %v was removed, reported was only %q", kind, names, problems)
		}
	}
	for i := range resources {
		r := resources[i]
		if r.Type == "AWS::CloudWatch::Alarm" {
			whole := resources
			resources = slices.Delete(slices.Clone(resources), i, i+1)
			expect("alarm", r.LogicalID)
			resources = whole
		}
		for _, field := range []*string{&resources[i].DeletionPolicy, &resources[i].UpdateReplacePolicy} {
			if was := *field; was != "" {
				*field = ""
				expect("policy", r.LogicalID)
				*field = was
			}
		}
		walk(r.Properties, "", func(parent map[string]any, key, path string) {
			kind, names := "", []string{r.LogicalID}
			switch {
			case r.Type == "AWS::DynamoDB::Table" &&
				(strings.HasSuffix(key, "Specification") || key == "DeletionProtectionEnabled"):
				kind = "property of a table"
			case key == "RetentionInDays":
				kind = "retention"
			case key == "DestinationConfig":
				kind = "destination"
			case strings.HasSuffix(path, ".GatewayResponses"):
				kind, names = "gateway response", []string{key}
			case key == "ManagedPolicyArns":
				kind = "permission"
			case key == "Statement":
				statements := list(parent[key])
				for i, statement := range statements {
					resource := fmt.Sprint(at(statement, "Resource"))
					if strings.Contains(resource, ":table/") && !strings.Contains(resource, "/stream/") {
						continue // test/usage compares them with what functions use
					}
					parent[key] = slices.Delete(slices.Clone(statements), i, i+1)
					expect("permission", r.LogicalID)
					parent[key] = statements
				}
			}
			if kind != "" {
				was := parent[key]
				delete(parent, key)
				expect(kind, names...)
				parent[key] = was
			}
		})
	}
	for kind, least := range map[string]int{
		"alarm": 10, "policy": 20, "property of a table": 26, "retention": 10, "destination": 3, "gateway response": 10,
		"permission": 30,
	} {
		if removed[kind] < least {
			t.Errorf("removed were only %d of %s", removed[kind], kind)
		}
	}
}

// walk visits every member of nested maps and lists.
func walk(value any, path string, visit func(parent map[string]any, key, path string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			visit(value, key, path)
			walk(value[key], path+"."+key, visit)
		}
	case []any:
		for _, item := range value {
			walk(item, path, visit)
		}
	}
}

// TestAlarmTopicArn checks that every alarm notifies the topic of the parameter, and that the stack then has none.
func TestAlarmTopicArn(t *testing.T) {
	t.Parallel()
	const topic = "arn:aws:sns:us-east-1:123456789012:alarms"
	parameters := maps.Clone(everything)
	parameters["AlarmEmail"], parameters["AlarmTopicArn"] = "", topic
	for _, r := range load(t, parameters).Resources {
		switch r.Type {
		case "AWS::SNS::Topic":
			t.Errorf("%s is created, but not used", r.LogicalID)
		case "AWS::CloudWatch::Alarm":
			if got := fmt.Sprint(r.Properties["AlarmActions"], r.Properties["OKActions"]); got != "["+topic+"] ["+topic+"]" {
				t.Errorf("%s notifies %s", r.LogicalID, got)
			}
		}
	}
}
