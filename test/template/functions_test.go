package template_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// TestOneToOne: functions/<name>/main.go, the resource <Name>Function and events/<name>.json come together.
func TestOneToOne(t *testing.T) {
	t.Parallel()
	var resources []string
	for _, function := range mustLoad(t).Functions {
		resources = append(resources, function.Name)
		if want := pascal(function.Name) + "Function"; function.LogicalID != want {
			t.Errorf("functions/%s has the logical id %s, want %s", function.Name, function.LogicalID, want)
		}
	}
	slices.Sort(resources)
	if diff := cmp.Diff(resources, names(t, "functions/*/main.go", filepath.Dir)); diff != "" {
		t.Errorf("template.yaml and functions/:\n%s", diff)
	}
	withoutExtension := func(path string) string { return strings.TrimSuffix(path, ".json") }
	if diff := cmp.Diff(resources, names(t, "events/*.json", withoutExtension)); diff != "" {
		t.Errorf("template.yaml and events/:\n%s", diff)
	}
}

func names(t *testing.T, pattern string, cut func(string) string) []string {
	t.Helper()
	paths, err := filepath.Glob(root + pattern)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		found = append(found, filepath.Base(cut(path)))
	}
	slices.Sort(found)
	return found
}

func pascal(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// TestArchitectures: one parameter decides for all functions.
func TestArchitectures(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"arm64", "x86_64"} {
		read, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{"Architecture": architecture}})
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range ofType(read, "AWS::Serverless::Function") {
			if diff := cmp.Diff([]any{architecture}, function.Properties["Architectures"]); diff != "" {
				t.Errorf("%s:\n%s", function.LogicalID, diff)
			}
		}
	}
}

// TestVersions: a function is published anew where a parameter changes it, and only there. SAM looks at the template's text, in which the
// parameter's name stays the same; Lambda refuses a version that is as the one before.
func TestVersions(t *testing.T) {
	t.Parallel()
	others := map[string]string{
		"Architecture": "x86_64", "LogRetentionDays": "7", "PointInTimeRecovery": "false", "ApiGatewayAccount": "external", "ThrottlingRateLimit": "7",
		"ThrottlingBurstLimit": "7", "AuthorizerCacheSeconds": "7", "MaxTokensPerAccount": "7", "ExactTraffic": "true", "DetailedMetrics": "true",
		"AlarmEmail": "ops@example.com", "Tracing": "true", "DynamoDBEndpoint": "http://127.0.0.1:8000", "Stage": "other",
		"DeploymentPreference": "Canary10Percent5Minutes",
	}
	all, _, _ := parameters(t)
	domain := map[string]bool{"DomainName": true, "CertificateArn": true, "HostedZoneId": true} // they need each other, and are of the API alone
	for name := range all {
		if others[name] == "" && !domain[name] {
			t.Errorf("%s is not tried", name)
		}
	}
	before := ofType(mustLoad(t), "AWS::Serverless::Function")
	for name, value := range others {
		read, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{name: value}})
		if err != nil {
			t.Fatal(err)
		}
		for i, function := range ofType(read, "AWS::Serverless::Function") {
			was, is := before[i].Properties, function.Properties
			published := was["VersionDescription"] != is["VersionDescription"]
			for _, key := range []string{"VersionDescription", "DeploymentPreference", "Events"} {
				delete(is, key)
				was = maps.Clone(was)
				delete(was, key)
			}
			if changed := !cmp.Equal(was, is); changed != published {
				t.Errorf("%s: another %s changes it: %t, but another version is made: %t", function.LogicalID, name, changed, published)
			}
		}
	}
}
