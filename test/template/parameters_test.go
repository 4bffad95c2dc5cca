package template_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/samtemplate"
)

// parameter is a parameter as it stands in the template.
type parameter struct {
	Default               *string  `yaml:"Default"`
	Description           string   `yaml:"Description"`
	AllowedPattern        string   `yaml:"AllowedPattern"`
	AllowedValues         []string `yaml:"AllowedValues"`
	MinValue              *int     `yaml:"MinValue"`
	MaxValue              *int     `yaml:"MaxValue"`
	ConstraintDescription string   `yaml:"ConstraintDescription"`
}

// parameters reads the section and what the console is told of it.
func parameters(t *testing.T) (all map[string]parameter, grouped []string, labels map[string]any) {
	t.Helper()
	content, err := os.ReadFile(root + "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Metadata struct {
			Interface struct {
				ParameterGroups []struct {
					Parameters []string `yaml:"Parameters"`
				} `yaml:"ParameterGroups"`
				ParameterLabels map[string]any `yaml:"ParameterLabels"`
			} `yaml:"AWS::CloudFormation::Interface"`
		} `yaml:"Metadata"`
		Parameters map[string]parameter `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	for _, group := range document.Metadata.Interface.ParameterGroups {
		grouped = append(grouped, group.Parameters...)
	}
	return document.Parameters, grouped, document.Metadata.Interface.ParameterLabels
}

// TestParameters: each has a default, so that nothing need be given, says what it is, is bounded, and says how where it is not kept.
func TestParameters(t *testing.T) {
	t.Parallel()
	all, grouped, labels := parameters(t)
	for name, p := range all {
		if p.Default == nil || p.Description == "" || p.ConstraintDescription == "" {
			t.Errorf("%s lacks a default, a description or what its constraint is", name)
		}
		bounded := len(p.AllowedValues) > 0 || p.MinValue != nil && p.MaxValue != nil ||
			strings.HasPrefix(p.AllowedPattern, "^") && strings.HasSuffix(p.AllowedPattern, "$")
		if !bounded {
			t.Errorf("%s takes any value, or its pattern is not tied to both ends", name)
		}
		if !slices.Contains(grouped, name) || labels[name] == nil {
			t.Errorf("%s is in no group of the console's form, or has no label", name)
		}
	}
	if len(grouped) != len(all) || len(labels) != len(all) {
		t.Errorf("the console's form has %d parameters and %d labels, the template %d", len(grouped), len(labels), len(all))
	}
}

// TestWrongParameters: a wrong value is refused, by the name of its parameter.
func TestWrongParameters(t *testing.T) {
	t.Parallel()
	const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef"
	wrong := map[string][]string{
		"Stage":                  {"", "Dev", "1st", "dev_1", "dev stage", "dev\n", strings.Repeat("x", 31)},
		"Architecture":           {"", "ARM64", "amd64"},
		"DeploymentPreference":   {"", "Canary", "Canary10Percent7Minutes", "canary10percent5minutes"},
		"LogRetentionDays":       {"", "0", "31", "-1", "30d", "30.5"},
		"PointInTimeRecovery":    {"", "True", "yes", "1"},
		"ApiGatewayAccount":      {"", "none"},
		"ThrottlingRateLimit":    {"", "0", "10001", "-5", "many"},
		"ThrottlingBurstLimit":   {"", "0", "5001"},
		"AuthorizerCacheSeconds": {"", "-1", "3601", "5m"},
		"MaxTokensPerAccount":    {"", "0", "101"},
		"ExactTraffic":           {"", "TRUE"},
		"DomainName":             {"https://toggles.example.com", "toggles", "Toggles.example.com", "-a.example.com", "a..example.com", "a.example.com/"},
		"CertificateArn":         {"arn:aws:iam::123456789012:server-certificate/x", certificate + "0", "certificate"},
		"HostedZoneId":           {"z123", "/hostedzone/Z123", "Z", "example.com"},
		"AlarmEmail":             {"ops", "ops@example", "ops@example.com, dev@example.com", "@example.com"},
		"DetailedMetrics":        {"", "on"},
		"Tracing":                {"", "Active"},
		"DynamoDBEndpoint":       {"localhost:8000", "ftp://localhost", "http://", "http://a b"},
	}
	all, _, _ := parameters(t)
	for name := range all {
		if len(wrong[name]) == 0 {
			t.Errorf("nothing wrong is tried with %s", name)
		}
		for _, value := range wrong[name] {
			_, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{name: value}})
			if err == nil || !strings.Contains(err.Error(), ": "+name+": ") {
				t.Errorf("%s=%q: %v", name, value, err)
			}
		}
	}
}

// TestParametersThatNeedEachOther: one without the other is refused, with a text that names both.
func TestParametersThatNeedEachOther(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want       string
		parameters map[string]string
	}{
		{"DomainName needs CertificateArn", map[string]string{"DomainName": "toggles.example.com"}},
		{"CertificateArn needs DomainName", map[string]string{"CertificateArn": everything().Parameters["CertificateArn"]}},
		{"HostedZoneId needs DomainName", map[string]string{"HostedZoneId": "Z0123456789"}},
		{"DynamoDBEndpoint must be empty for the stage prod", map[string]string{"Stage": "prod", "DynamoDBEndpoint": "http://127.0.0.1:8000"}},
	} {
		_, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: tt.parameters})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.parameters, err, tt.want)
		}
	}
}

// TestEnvironments: what samconfig.toml gives to each environment, the template takes; only production asks before it changes, and only
// dev switches at once.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(root + "samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	setting := regexp.MustCompile(`(?m)^([a-z0-9_]+) = (.*?)( #.*)?$`)
	sections := map[string]map[string]string{}
	for block := range strings.SplitSeq(string(content), "\n[") {
		name, rest, _ := strings.Cut(block, "]")
		sections[name] = map[string]string{}
		for _, match := range setting.FindAllStringSubmatch(rest, -1) {
			sections[name][match[1]] = match[2]
		}
	}
	for environment, stage := range map[string]string{"default": "dev", "staging": "staging", "prod": "prod"} {
		deploy := sections[environment+".deploy.parameters"]
		given := map[string]string{}
		for _, match := range regexp.MustCompile(`"(\w+)=([^"]*)"`).FindAllStringSubmatch(deploy["parameter_overrides"], -1) {
			given[match[1]] = match[2]
		}
		read, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: given})
		if err != nil {
			t.Errorf("%s: %v", environment, err)
			continue
		}
		if read.API.Stage != stage {
			t.Errorf("%s deploys the stage %s, want %s", environment, read.API.Stage, stage)
		}
		for _, tt := range []struct{ section, key, want string }{
			{".global.parameters", "stack_name", `"toggleadmin-` + stage + `"`},
			{".deploy.parameters", "s3_prefix", `"toggleadmin-` + stage + `"`},
			{".deploy.parameters", "tags", `["application=toggleadmin", "stage=` + stage + `"]`},
			{".deploy.parameters", "capabilities", `"CAPABILITY_IAM"`},
			{".build.parameters", "cached", "false"},
		} {
			if got := sections[environment+tt.section][tt.key]; got != tt.want {
				t.Errorf("%s%s: %s is %s, want %s", environment, tt.section, tt.key, got, tt.want)
			}
		}
		if asks := deploy["confirm_changeset"] == "true"; asks != (stage == "prod") {
			t.Errorf("%s: confirm_changeset is %s", environment, deploy["confirm_changeset"])
		}
		if gradual := strings.Contains(given["DeploymentPreference"], "Percent"); gradual == (stage == "dev") {
			t.Errorf("%s: DeploymentPreference is %q", environment, given["DeploymentPreference"])
		}
	}
}

// TestWaivers: each check of checkov that is waived says why.
func TestWaivers(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(root + ".checkov.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, waived, _ := strings.Cut(string(content), "skip-check:\n")
	for line := range strings.Lines(waived) {
		if !regexp.MustCompile(`^  - CKV2?_AWS_\d+ # [A-Z].{30,}\.\n$`).MatchString(line) {
			t.Errorf("%q: want one check and its reason", line)
		}
	}
}

// TestNoSecrets: the template holds none, and takes none.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"template.yaml", "samconfig.toml", ".checkov.yaml"} {
		content, err := os.ReadFile(root + file)
		if err != nil {
			t.Fatal(err)
		}
		secret := regexp.MustCompile(`AKIA[0-9A-Z]{16}|PRIVATE KEY|:v2_|\.v2_|NoEcho|(?i)password|secretsmanager|ssm-secure`)
		if found := secret.Find(content); found != nil {
			t.Errorf("%s: %s", file, found)
		}
	}
}
