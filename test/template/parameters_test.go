package template_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/local/samtemplate"
)

type parameter struct {
	Type                  string   `yaml:"Type"`
	Default               *string  `yaml:"Default"`
	Description           string   `yaml:"Description"`
	AllowedPattern        string   `yaml:"AllowedPattern"`
	AllowedValues         []string `yaml:"AllowedValues"`
	MaxValue              string   `yaml:"MaxValue"`
	ConstraintDescription string   `yaml:"ConstraintDescription"`
}

// parameters reads the section Parameters, and the names in the groups of the console.
func parameters(tb testing.TB) (all map[string]parameter, grouped []string) {
	tb.Helper()
	var document struct {
		Metadata struct {
			Interface struct {
				ParameterGroups []struct {
					Parameters []string `yaml:"Parameters"`
				} `yaml:"ParameterGroups"`
			} `yaml:"AWS::CloudFormation::Interface"`
		} `yaml:"Metadata"`
		Parameters map[string]parameter `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(read(tb, "template.yaml")), &document); err != nil {
		tb.Fatal(err)
	}
	for _, group := range document.Metadata.Interface.ParameterGroups {
		grouped = append(grouped, group.Parameters...)
	}
	slices.Sort(grouped)
	return document.Parameters, grouped
}

// TestParameters checks that every parameter has a default, a description and constraints.
func TestParameters(t *testing.T) {
	t.Parallel()
	all, grouped := parameters(t)
	if diff := cmp.Diff(sortedKeys(all), grouped); diff != "" {
		t.Errorf("parameters, and those in the groups of the console:\n%s", diff)
	}
	for name, p := range all {
		if p.Default == nil || p.Description == "" || p.ConstraintDescription == "" {
			t.Errorf("%s lacks a default, a description or the description of its constraint", name)
		}
		if p.AllowedValues == nil && p.MaxValue == "" && !regexp.MustCompile(`^\^.*\$$`).MatchString(p.AllowedPattern) {
			t.Errorf("%s accepts any value, or its pattern has no anchors", name)
		}
	}
}

// TestPatterns checks values that the patterns of parameters must reject.
func TestPatterns(t *testing.T) {
	t.Parallel()
	certificate, webACL := everything["CertificateArn"], everything["WebAclArn"]
	for name, values := range map[string][]string{
		"Stage": {"", "Dev", "1st", "dev_1", "dev stage", "dev\n", strings.Repeat("x", 31)},
		"DomainName": {"https://toggles.example.com", "toggles", "Toggles.example.com", "-a.example.com",
			"a..example.com", "a.example.com/"},
		"CertificateArn": {"arn:aws:iam::123456789012:server-certificate/x", certificate + "0", "certificate"},
		"HostedZoneId":   {"z123", "/hostedzone/Z123", "Z", "example.com"},
		"AlarmEmail":     {"ops", "ops@example", "ops@example.com, dev@example.com", "@example.com"},
		"AlarmTopicArn": {"alarms", "arn:aws:sns:us-east-1:123456789012",
			"arn:aws:sqs:us-east-1:123456789012:alarms"},
		"PermissionsBoundaryArn": {"boundary", "arn:aws:iam::123456789012:role/admin", "arn:aws:iam::123456789012:policy/"},
		"OidcIssuer": {
			"http://issuer.example.com", "issuer.example.com", "https://", "https:///a", "https://user@issuer.example.com",
			"https://a b",
			"https://issuer.example.com/?a=b", "https://issuer.example.com/#a", "https://issuer.example.com\\@b",
			"https://" + strings.Repeat("x", 113),
			// the functions would not start
			"https://issuer.example.com/%zz", "https://issuer.example.com/\x01", "https://[::::]",
		},
		"OidcClientId":      {"a b", "a\n", "\u00fc", strings.Repeat("x", 77)},
		"OidcDefaultRole":   {"admin", "Owner", " "},
		"WebhookSecretName": {"secret", "/a b", "/", "/" + strings.Repeat("x", 64), "/a*"},
		"DynamoDBEndpoint":  {"localhost:8000", "ftp://localhost", "http://", "http://a b"},
		"WebAclArn": {"webacl", webACL + "0", strings.Replace(webACL, "regional", "global", 1),
			strings.Replace(webACL, ":us-east-1", "", 1)},
	} {
		for _, value := range values {
			_, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{name: value}})
			if err == nil || !strings.Contains(err.Error(), name+": the value") {
				t.Errorf("%s=%q: got %v", name, value, err)
			}
		}
	}
}

// TestRules checks that combinations of parameters that cannot work are rejected.
func TestRules(t *testing.T) {
	t.Parallel()
	const topic = "arn:aws:sns:us-east-1:123456789012:alarms"
	for want, given := range map[string]map[string]string{
		"DomainName needs CertificateArn":                   {"DomainName": "toggles.example.com"},
		"CertificateArn needs DomainName":                   {"CertificateArn": everything["CertificateArn"]},
		"HostedZoneId needs DomainName":                     {"HostedZoneId": "Z0123456789"},
		"DynamoDBEndpoint must be empty for the stage prod": {"Stage": "prod", "DynamoDBEndpoint": "http://127.0.0.1:8000"},
		"DeploymentPreference must be AllAtOnce": {"Monitoring": "none",
			"DeploymentPreference": "Canary10Percent5Minutes"},
		"OidcIssuer needs OidcClientId":             {"OidcIssuer": "https://issuer.example.com"},
		"OidcClientId needs OidcIssuer":             {"OidcClientId": "console"},
		"OidcDefaultRole needs OidcIssuer":          {"OidcDefaultRole": "Viewer"},
		"WebhookSecretName needs SendEventsToBus":   {"WebhookSecretName": "/a"},
		"AlarmEmail must be empty if Monitoring":    {"AlarmEmail": "ops@example.com"},
		"AlarmTopicArn must be empty if Monitoring": {"AlarmTopicArn": topic},
		"AlarmEmail must be empty if AlarmTopicArn": {"Monitoring": "alarms", "AlarmEmail": "ops@example.com",
			"AlarmTopicArn": topic},
		"Monitoring needs AlarmEmail or AlarmTopicArn": {"Monitoring": "alarms-and-dashboard"},
		"UseFipsEndpoint must be false": {"UseFipsEndpoint": "true",
			"DynamoDBEndpoint": "http://127.0.0.1:8000"},
		"UseDualStackEndpoint must be false": {"UseDualStackEndpoint": "true",
			"DynamoDBEndpoint": "http://127.0.0.1:8000"},
	} {
		_, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: given})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", given, err, want)
		}
	}
}

// TestVersions checks that a function is published again if a parameter changes it, and only then. SAM compares the
// text of the template, in which a reference stays the same; Lambda refuses a version that equals the one before.
func TestVersions(t *testing.T) {
	t.Parallel()
	all, _ := parameters(t)
	for name, p := range all {
		given := map[string]string{}
		if strings.HasPrefix(name, "Webhook") {
			given = map[string]string{"SendEventsToBus": "true", "WebhookSecretName": "/secret"}
		}
		if strings.HasPrefix(name, "Oidc") || name == "EventLogDays" { // the authorizer records who signs in
			given = map[string]string{"OidcIssuer": "https://example.org", "OidcClientId": "console"}
		}
		if slices.Contains([]string{"AlarmEmail", "Monitoring", "DeploymentPreference"}, name) {
			given = map[string]string{"Monitoring": "alarms", "AlarmEmail": "dev@example.com"}
		}
		before := load(t, given).Resources
		value := map[string]string{
			"Stage": "other", "Version": "1.2.3+4567890a.modified", "AlarmEmail": "ops@example.com",
			"DynamoDBEndpoint": "http://127.0.0.1:8000", "DomainName": "-",
			// the domain belongs to the API, the topic to the alarms
			"CertificateArn": "-", "HostedZoneId": "-", "AlarmTopicArn": "-",
			"PermissionsBoundaryArn": "arn:aws:iam::123456789012:policy/boundary",
			"WebAclArn":              everything["WebAclArn"],
			"WebhookSecretName":      "/other",
			"WebhookEvents":          "token-expiring",
			"OidcIssuer":             "https://example.com", "OidcClientId": "other",
		}[name]
		for _, allowed := range p.AllowedValues {
			if allowed != *p.Default && allowed != given[name] {
				value = allowed
			}
		}
		if number, err := strconv.Atoi(*p.Default); err == nil && value == "" {
			value = strconv.Itoa(number + 1)
		}
		switch value {
		case "-":
			continue
		case "":
			t.Errorf("no second value is known for the parameter %s", name)
			continue
		}
		after := map[string]samtemplate.Resource{}
		given[name] = value
		for _, r := range load(t, given).Resources {
			after[r.LogicalID] = r
		}
		for _, was := range before {
			if was.Properties["AutoPublishAlias"] == nil { // has no versions
				continue
			}
			old, changed := maps.Clone(was.Properties), after[was.LogicalID].Properties
			published := old["VersionDescription"] != changed["VersionDescription"]
			// not part of a version
			for _, key := range []string{"VersionDescription", "DeploymentPreference", "Events",
				"ReservedConcurrentExecutions"} {
				delete(old, key)
				delete(changed, key)
			}
			if different := !cmp.Equal(old, changed); different != published {
				t.Errorf("%s: another %s changes it: %t, but publishes a version: %t", was.LogicalID, name, different, published)
			}
		}
	}
}

// TestVersionDescriptionLength checks that Lambda accepts the descriptions of versions with the longest values on AWS:
// 256 characters.
func TestVersionDescriptionLength(t *testing.T) {
	t.Parallel()
	longest := map[string]string{
		"Architecture": "x86_64", "Version": "10.10.10+1a2b3c4d5e6f7a.modified",
		"OidcIssuer":   "https://" + strings.Repeat("x", 112),
		"OidcClientId": strings.Repeat("x", 76), "OidcDefaultRole": "Viewer", "EventLogDays": "3650",
	}
	for _, r := range load(t, longest).Resources {
		if d, _ := r.Properties["VersionDescription"].(string); len(d) > 256 || (r.Properties["AutoPublishAlias"] != nil) != (d != "") {
			t.Errorf("%s: %d characters: %s", r.LogicalID, len(d), d)
		}
	}
}

// TestReservedConcurrency checks that concurrency is reserved for every function or for none. A value of 0 would stop a
// function.
func TestReservedConcurrency(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]any{"0": nil, "10": 10} {
		for _, r := range load(t, map[string]string{"ReservedConcurrency": value}).Resources {
			got := r.Properties["ReservedConcurrentExecutions"]
			if r.Type == "AWS::Serverless::Function" && r.LogicalID != "DeliverWebhookFunction" && got != want {
				t.Errorf("ReservedConcurrency=%s: %s has %v", value, r.LogicalID, got)
			}
		}
	}
}

// TestAuthorizerConcurrency checks that the parameter reserves concurrency for the authorizer only, even if others have
// another number.
func TestAuthorizerConcurrency(t *testing.T) {
	t.Parallel()
	for _, others := range []string{"0", "10"} {
		for _, r := range load(t, map[string]string{"AuthorizerConcurrency": "5", "ReservedConcurrency": others}).Resources {
			got := r.Properties["ReservedConcurrentExecutions"]
			if r.Type == "AWS::Serverless::Function" && (got == 5) != (r.LogicalID == "AuthorizerFunction") {
				t.Errorf("ReservedConcurrency=%s: %s has %v", others, r.LogicalID, got)
			}
		}
	}
}

// TestEnvironments checks the sections of samconfig.toml.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	setting := regexp.MustCompile(`(?m)^([a-z0-9_]+) = (.*?)( #.*)?$`)
	settings := map[string]string{}          // "dev.deploy.parameters.tags" → value
	lists := regexp.MustCompile(`\n(  |\])`) // of several lines
	for block := range strings.SplitSeq(lists.ReplaceAllString(read(t, "samconfig.toml"), "$1"), "\n[") {
		section, rest, _ := strings.Cut(block, "]")
		for _, match := range setting.FindAllStringSubmatch(rest, -1) {
			settings[section+"."+match[1]] = match[2]
		}
	}
	for environment, stage := range map[string]string{"default": "dev", "staging": "staging", "prod": "prod"} {
		for key, want := range map[string]string{
			"global.parameters.stack_name": `"toggleadmin-` + stage + `"`, "deploy.parameters.s3_prefix": `"toggleadmin-` +
				stage + `"`,
			"deploy.parameters.tags":         `["application=toggleadmin", "stage=` + stage + `"]`,
			"deploy.parameters.capabilities": `"CAPABILITY_IAM"`, "build.parameters.cached": "false",
			"deploy.parameters.confirm_changeset": strconv.FormatBool(stage == "prod"),
		} {
			if got := settings[environment+"."+key]; got != want {
				t.Errorf("%s.%s is %s, want %s", environment, key, got, want)
			}
		}
		given := map[string]string{}
		overrides := settings[environment+".deploy.parameters.parameter_overrides"]
		for _, match := range regexp.MustCompile(`"(\w+)=([^"]*)"`).FindAllStringSubmatch(overrides, -1) {
			given[match[1]] = match[2]
		}
		if given["Architecture"] != "" || given["DynamoDBEndpoint"] != "" ||
			settings[environment+".build.parameters.build_dir"] != "" {
			t.Errorf("%s deploys the build or the engine of the environment local", environment)
		}
		if given["Monitoring"] != "" && stage != "dev" { // who receives the alarms is not known
			if _, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: given}); err == nil {
				t.Errorf("%s has alarms, but nobody receives them", environment)
			}
			given["AlarmEmail"] = everything["AlarmEmail"]
		}
		if got := load(t, given).API.Stage; got != stage {
			t.Errorf("%s deploys the stage %s, want %s", environment, got, stage)
		}
		if gradual := strings.Contains(given["DeploymentPreference"], "Percent"); gradual == (stage == "dev") {
			t.Errorf("%s: DeploymentPreference is %q", environment, given["DeploymentPreference"])
		}
		if protected := given["DeletionProtection"] == "true"; protected == (stage == "dev") {
			t.Errorf("%s: DeletionProtection is %q", environment, given["DeletionProtection"])
		}
	}
}
