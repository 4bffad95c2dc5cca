package template_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

const (
	root = "../../"
	file = root + "template.yaml"
)

// everything are parameters with which every condition of the template is true.
var everything = map[string]string{
	"DomainName": "toggles.example.com", "HostedZoneId": "Z0123456789ABCDEFGHIJ", "AlarmEmail": "ops@example.com",
	"Tracing": "true", "ClientApi": "true",
	"Monitoring": "alarms-and-dashboard", "DeploymentPreference": "Canary10Percent5Minutes",
	"ClientOriginSecret": "/toggles/origin-secret",
	"SendEventsToBus":    "true", "WebhookSecretName": "/aws/reference/secretsmanager/toggles/webhook",
	"OidcIssuer": "https://issuer.example.com", "OidcClientId": "console", "OidcDefaultRole": "Viewer",
	"CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef",
	"WebAclArn":      "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/floods/01234567-89ab-cdef-0123-456789abcdef",
}

// alarms are the parameters of a stack with alarms.
var alarms = map[string]string{"Monitoring": "alarms", "AlarmEmail": everything["AlarmEmail"]}

// document is the template, which is parsed once.
var document = sync.OnceValues(func() (*samtemplate.Document, error) {
	return samtemplate.Parse(os.DirFS(root), "template.yaml")
})

func resolve(parameters map[string]string) (*samtemplate.Template, error) {
	d, err := document()
	if err != nil {
		return nil, err
	}
	return d.Resolve(samtemplate.Settings{Parameters: parameters})
}

// load returns the template with the given parameters.
func load(tb testing.TB, parameters map[string]string) *samtemplate.Template {
	tb.Helper()
	t, err := resolve(parameters)
	assert.OK(tb, err)
	return t
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	content, err := os.ReadFile(root + file)
	assert.OK(tb, err)
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

// The page about backups has a row with each table.
func TestBackups(t *testing.T) {
	t.Parallel()
	_, rows, _ := strings.Cut(read(t, "docs/backup.md"), "|---|")
	rows, _, _ = strings.Cut(rows, "\n\n")
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(rows, -1) {
		named = append(named, strings.Split(row[1], ", ")...)
	}
	slices.Sort(named)
	assert.Equal(t, slices.Sorted(maps.Keys(load(t, nil).TableNames())), named)
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

// TestRemovals removes parts of the template, one at a time, and expects a problem.
func TestRemovals(t *testing.T) {
	t.Parallel()
	checker, resources := newChecker(t), load(t, everything).Resources
	for _, pattern := range []string{
		`^AWS::DynamoDB::Table\.(\w+Specification|DeletionProtectionEnabled)$`, `RetentionInDays$`, `DestinationConfig$`,
		`GatewayResponses\.\w+$`, `ManagedPolicyArns$`, `^AWS::IAM::Role\.Policies$`, `AlarmActions$`,
	} {
		removed, members := 0, regexp.MustCompile(pattern)
		for _, r := range resources {
			walk(r.Properties, r.Type, func(parent map[string]any, key, path string) {
				if !members.MatchString(path + "." + key) {
					return
				}
				removed++
				was := parent[key]
				delete(parent, key)
				if len(checker.check(resources)) == 0 {
					t.Errorf("%s without %s has no problem", r.LogicalID, key)
				}
				parent[key] = was
			})
		}
		if removed == 0 {
			t.Errorf("nothing is %s", pattern)
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
