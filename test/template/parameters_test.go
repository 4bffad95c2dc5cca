package template_test

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/template"
)

// TestParameters checks that every parameter has a default, a description and constraints.
func TestParameters(t *testing.T) {
	t.Parallel()
	all, grouped := template.Parameters(t, file)
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

// TestRejected checks that values that the pattern of a parameter must not allow are rejected, and combinations that
// cannot work.
func TestRejected(t *testing.T) {
	t.Parallel()
	certificate, webACL := everything["CertificateArn"], everything["WebAclArn"]
	for _, test := range []struct {
		parameters string // NAME=value, NAME=value
		want       string // part of the error; none: the value is rejected
	}{
		{"Stage=", ""},
		{"Stage=Dev", ""},
		{"Stage=1st", ""},
		{"Stage=dev_1", ""},
		{"Stage=dev stage", ""},
		{"Stage=dev\n", ""},
		{"Stage=" + strings.Repeat("x", 31), ""},
		{"DomainName=https://toggles.example.com", ""},
		{"DomainName=toggles", ""},
		{"DomainName=Toggles.example.com", ""},
		{"DomainName=-a.example.com", ""},
		{"DomainName=a..example.com", ""},
		{"DomainName=a.example.com/", ""},
		{"CertificateArn=arn:aws:iam::123456789012:server-certificate/x", ""},
		{"CertificateArn=" + certificate + "0", ""},
		{"CertificateArn=certificate", ""},
		{"HostedZoneId=z123", ""},
		{"HostedZoneId=/hostedzone/Z123", ""},
		{"HostedZoneId=Z", ""},
		{"HostedZoneId=example.com", ""},
		{"WebhookEvents=pat-created,", ""},
		{"AlarmEmail=ops", ""},
		{"AlarmEmail=ops@example", ""},
		{"AlarmEmail=ops@example.com, dev@example.com", ""},
		{"AlarmEmail=@example.com", ""},
		{"AlarmTopicArn=alarms", ""},
		{"AlarmTopicArn=arn:aws:sns:us-east-1:123456789012", ""},
		{"AlarmTopicArn=arn:aws:sqs:us-east-1:123456789012:alarms", ""},
		{"PermissionsBoundaryArn=boundary", ""},
		{"PermissionsBoundaryArn=arn:aws:iam::123456789012:role/admin", ""},
		{"PermissionsBoundaryArn=arn:aws:iam::123456789012:policy/", ""},
		{"OidcIssuer=http://issuer.example.com", ""},
		{"OidcIssuer=issuer.example.com", ""},
		{"OidcIssuer=https://", ""},
		{"OidcIssuer=https:///a", ""},
		{"OidcIssuer=https://user@issuer.example.com", ""},
		{"OidcIssuer=https://a b", ""},
		{"OidcIssuer=https://issuer.example.com/?a=b", ""},
		{"OidcIssuer=https://issuer.example.com/#a", ""},
		{`OidcIssuer=https://issuer.example.com\@b`, ""},
		{"OidcIssuer=https://" + strings.Repeat("x", 105), ""},
		// with these, the functions would not start
		{"OidcIssuer=https://issuer.example.com/%zz", ""},
		{"OidcIssuer=https://issuer.example.com/\x01", ""},
		{"OidcIssuer=https://[::::]", ""},
		{"OidcClientId=a b", ""},
		{"OidcClientId=a\n", ""},
		{"OidcClientId=ü", ""},
		{"OidcClientId=" + strings.Repeat("x", 77), ""},
		{"OidcDefaultRole=admin", ""},
		{"OidcDefaultRole=Owner", ""},
		{"OidcDefaultRole= ", ""},
		{"WebhookSecretName=secret", ""},
		{"WebhookSecretName=/a b", ""},
		{"WebhookSecretName=/", ""},
		{"WebhookSecretName=/" + strings.Repeat("x", 64), ""},
		{"WebhookSecretName=/a*", ""},
		{"DynamoDBEndpoint=localhost:8000", ""},
		{"DynamoDBEndpoint=ftp://localhost", ""},
		{"DynamoDBEndpoint=http://", ""},
		{"DynamoDBEndpoint=http://a b", ""},
		{"WebAclArn=webacl", ""},
		{"WebAclArn=" + webACL + "0", ""},
		{"WebAclArn=arn:aws:wafv2:us-east-1:123456789012:global/webacl/floods/01234567-89ab-cdef-0123-456789abcdef", ""},
		{"WebAclArn=arn:aws:wafv2:123456789012:regional/webacl/floods/01234567-89ab-cdef-0123-456789abcdef", ""},

		{"DomainName=toggles.example.com", "DomainName needs CertificateArn"},
		{"CertificateArn=" + certificate, "CertificateArn needs DomainName"},
		{"HostedZoneId=Z0123456789", "HostedZoneId needs DomainName"},
		{"Stage=prod, DynamoDBEndpoint=http://127.0.0.1:8000", "DynamoDBEndpoint must be empty for the stage prod"},
		{"Monitoring=none, DeploymentPreference=Canary10Percent5Minutes", "DeploymentPreference must be AllAtOnce"},
		{"OidcIssuer=https://issuer.example.com", "OidcIssuer needs OidcClientId"},
		{"OidcClientId=console", "OidcClientId needs OidcIssuer"},
		{"OidcDefaultRole=Viewer", "OidcDefaultRole needs OidcIssuer"},
		{"WebhookSecretName=/a", "WebhookSecretName needs SendEventsToBus"},
		{"AlarmEmail=ops@example.com", "AlarmEmail must be empty if Monitoring"},
		{"AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:a", "AlarmTopicArn must be empty if Monitoring"},
		{
			parameters: "Monitoring=alarms, AlarmEmail=a@example.com, AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:a",
			want:       "AlarmEmail must be empty if AlarmTopicArn",
		},
		{"Monitoring=alarms-and-dashboard", "Monitoring needs AlarmEmail or AlarmTopicArn"},
		{"UseFipsEndpoint=true, DynamoDBEndpoint=http://127.0.0.1:8000", "UseFipsEndpoint must be false"},
		{"UseDualStackEndpoint=true, DynamoDBEndpoint=http://127.0.0.1:8000", "UseDualStackEndpoint must be false"},
	} {
		given, want := values(test.parameters), test.want
		if name, value, _ := strings.Cut(test.parameters, "="); want == "" {
			given, want = map[string]string{name: value}, name+": the value"
		}
		_, err := resolve(given)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", given, err, want)
		}
	}
}

// TestRegions checks that the stack with the URL for applications is refused where Lambda has no function URLs.
func TestRegions(t *testing.T) {
	t.Parallel()
	d, err := document()
	assert.OK(t, err)
	for region, want := range map[string]bool{"eu-west-1": true, "eu-south-2": false, "us-gov-west-1": false} {
		for _, clientAPI := range []string{"true", "false"} {
			parameters := map[string]string{"ClientApi": clientAPI}
			_, err := d.Resolve(samtemplate.Settings{Region: region, Parameters: parameters})
			refused := err != nil && strings.Contains(err.Error(), "ClientApi must be false in this region")
			if accepted := want || clientAPI == "false"; refused == accepted {
				t.Errorf("%s, ClientApi=%s: %v", region, clientAPI, err)
			}
		}
	}
}

// TestValues checks a property of all resources of a type, or of one resource, with values of parameters, or their number.
// Alarms and dashboards are most of the cost of an idle month (docs/costs.md): an alarm is for a condition that needs an
// operator.
func TestValues(t *testing.T) {
	t.Parallel()
	certificate, webACL := everything["CertificateArn"], everything["WebAclArn"]
	const topic = "arn:aws:sns:us-east-1:123456789012:a"
	for _, test := range []struct {
		parameters string // NAME=value, NAME=value
		resources  string // their type, or the logical id of one
		except     string
		property   string // number: that of the resources
		want       string
	}{
		{"", "AWS::IAM::Role", "", "PermissionsBoundary", "<nil>"},
		{
			parameters: "PermissionsBoundaryArn=arn:aws:iam::123456789012:policy/a",
			resources:  "AWS::IAM::Role",
			property:   "PermissionsBoundary",
			want:       "arn:aws:iam::123456789012:policy/a",
		},
		// A value of 0 would stop a function.
		{"", "AWS::Serverless::Function", "", "ReservedConcurrentExecutions", "<nil>"},
		{
			parameters: "AuthorizerConcurrency=5",
			resources:  "AWS::Serverless::Function",
			except:     "AuthorizerFunction",
			property:   "ReservedConcurrentExecutions",
			want:       "<nil>",
		},
		{"AuthorizerConcurrency=5", "AuthorizerFunction", "", "ReservedConcurrentExecutions", "5"},
		{"ClientApi=true, ClientConcurrency=7", "ClientFunction", "", "ReservedConcurrentExecutions", "7"},
		{"", "ClientFunction", "", "number", "0"},
		{"Monitoring=alarms, AlarmTopicArn=" + topic, "AWS::CloudWatch::Alarm", "", "AlarmActions", "[" + topic + "]"},
		{"Monitoring=alarms, AlarmTopicArn=" + topic, "AWS::CloudWatch::Alarm", "", "OKActions", "[" + topic + "]"},
		// The API has one address.
		{"", "Api", "", "DisableExecuteApiEndpoint", "false"},
		{"DomainName=a.example.com, CertificateArn=" + certificate, "Api", "", "DisableExecuteApiEndpoint", "true"},
		{"WebAclArn=" + webACL, "AWS::WAFv2::WebACLAssociation", "", "WebACLArn", webACL},

		{"Monitoring=alarms, AlarmEmail=a@example.com", "AWS::CloudWatch::Alarm", "", "number", "21"},
		{"Monitoring=alarms, AlarmEmail=a@example.com, ClientApi=true", "AWS::CloudWatch::Alarm", "", "number", "22"},
		{"Monitoring=alarms, AlarmEmail=a@example.com", "AWS::CloudWatch::Dashboard", "", "number", "0"},
		{"Monitoring=alarms-and-dashboard, AlarmEmail=a@example.com", "AWS::CloudWatch::Alarm", "", "number", "21"},
		{"Monitoring=alarms-and-dashboard, AlarmEmail=a@example.com", "AWS::CloudWatch::Dashboard", "", "number", "1"},
		// each can have an alarm
		{
			parameters: "SendEventsToBus=true, WebhookSecretName=/a, DomainName=a.example.com, CertificateArn=" + certificate,
			resources:  "AWS::CloudWatch::Alarm",
			property:   "number",
			want:       "0",
		},
		{"Monitoring=alarms, AlarmTopicArn=" + topic, "AWS::SNS::Topic", "", "number", "0"},
		{"", "AWS::WAFv2::WebACLAssociation", "", "number", "0"},
	} {
		found := 0
		for _, r := range load(t, values(test.parameters)).Resources {
			if (r.Type == test.resources || r.LogicalID == test.resources) && r.LogicalID != test.except {
				found++
				if got := fmt.Sprint(r.Properties[test.property]); got != test.want && test.property != "number" {
					t.Errorf("with %q: %s of %s is %s, want %s", test.parameters, test.property, r.LogicalID, got, test.want)
				}
			}
		}
		if number := test.property == "number"; number && fmt.Sprint(found) != test.want || !number && found == 0 {
			t.Errorf("with %q: %d resources are %s, want %s %s", test.parameters, found, test.resources, test.want, test.property)
		}
	}
}

// values returns the values of parameters: "NAME=value, NAME=value".
func values(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ", ") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			all[name] = value
		}
	}
	return all
}

// TestVariables checks that all functions of a template have the same variables, beside those in which only one or two
// functions have an interest. Otherwise each release that lets a function use another table would change variables: an
// update of a function changes its code and its variables one after the other, and requests in between can fail.
func TestVariables(t *testing.T) {
	t.Parallel()
	own := map[string][]string{
		"AuthorizerFunction":     {"OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_DEFAULT_ROLE", "OIDC_GROUPS_CLAIM"},
		"ConsoleFunction":        {"CLIENT_URL", "VERSION", "OIDC_ISSUER", "OIDC_CLIENT_ID"},
		"ClientFunction":         {"FRESHNESS_MILLISECONDS", "FRONTEND_ORIGINS", "TRUSTED_PROXIES", "CLIENT_ORIGIN_SECRET"},
		"PublishEventsFunction":  {"EVENT_BUS", "EVENT_SOURCE", "REJECTED_EVENTS_QUEUE"},
		"DeliverWebhookFunction": {"WEBHOOK_FAILURES", "WEBHOOK_QUEUE", "WEBHOOK_SECRET_NAME"},
	}
	shared := map[string]map[string]string{} // by the name of Snapshots, a table of delivery.yaml
	for _, f := range load(t, everything).Functions {
		variables := maps.Clone(f.Environment)
		for _, name := range own[f.LogicalID] {
			if _, ok := variables[name]; !ok {
				t.Errorf("%s has no %s", f.LogicalID, name)
			}
			delete(variables, name)
		}
		template := f.Environment["SNAPSHOTS_TABLE"]
		if shared[template] == nil {
			shared[template] = variables
		}
		if diff := cmp.Diff(shared[template], variables); diff != "" {
			t.Errorf("%s has other variables:\n%s", f.LogicalID, diff)
		}
	}
}

// TestVersions checks that a function with an alias is published again if a parameter changes what it uses, and only
// then. SAM compares the text of the template, in which a reference stays the same; Lambda refuses a version that equals
// the one before.
func TestVersions(t *testing.T) {
	t.Parallel()
	all, _ := template.Parameters(t, file)
	for _, name := range []string{
		"AlarmTopicArn",    // the topic belongs to the alarms
		"Architecture",     // changes the code
		"DynamoDBEndpoint", // not on AWS
	} {
		delete(all, name)
	}
	stacks := []stack{{everything, load(t, everything).Resources}, {map[string]string{}, load(t, nil).Resources}}
	for name, p := range all {
		before, after := change(t, stacks, name, p)
		compareVersions(t, name, before, after)
	}
}

// stack is what the template creates with these parameters.
type stack struct {
	parameters map[string]string
	resources  []samtemplate.Resource
}

// change returns the resources of the first stack in which a rule does not forbid another value of the parameter, and
// those with that value.
func change(t *testing.T, stacks []stack, name string, p template.Parameter) (before, after []samtemplate.Resource) {
	t.Helper()
	for _, s := range stacks {
		for _, value := range p.OtherValues(t, name) {
			changed := maps.Clone(s.parameters)
			changed[name] = value
			if after, err := resolve(changed); err == nil && s.parameters[name] != value {
				return s.resources, after.Resources
			}
		}
	}
	t.Fatalf("no other value of %s is allowed", name)
	return nil, nil
}

func compareVersions(t *testing.T, parameter string, before, after []samtemplate.Resource) {
	t.Helper()
	changed := map[string]map[string]any{}
	for _, r := range after {
		changed[r.LogicalID] = r.Properties
	}
	for _, r := range before {
		was, is := r.Properties, changed[r.LogicalID]
		if was["AutoPublishAlias"] == nil || is == nil { // has no versions
			continue
		}
		published := was["VersionDescription"] != is["VersionDescription"]
		if different := !cmp.Equal(used(was), used(is)); different != published {
			t.Errorf("%s: another %s changes it: %t, but publishes a version: %t", r.LogicalID, parameter, different, published)
		}
	}
}

// used returns the properties of a function that are part of a version, with the variables that the function reads.
func used(properties map[string]any) map[string]any {
	version := maps.Clone(properties)
	for _, key := range []string{
		"AutoPublishAlias", "DeploymentPreference", "Environment", "ReservedConcurrentExecutions", "VersionDescription",
	} {
		delete(version, key)
	}
	variables, _ := at(properties, "Environment.Variables").(map[string]any)
	read := `^(OIDC_.*|AWS_.*)$` // by the authorizer
	switch {
	case properties["CodeUri"] == "functions/client/":
		read = `^(FRESHNESS_MILLISECONDS|FRONTEND_ORIGINS|TRUSTED_PROXIES|CLIENT_ORIGIN_SECRET|AWS_.*)$`
	case variables["OIDC_ISSUER"] != "":
		read = `^(OIDC_.*|GROUPS_MAX_AGE_DAYS|EVENT_LOG_DAYS|AWS_.*)$`
	}
	for name, value := range variables {
		if regexp.MustCompile(read).MatchString(name) {
			version[name] = value
		}
	}
	return version
}

// TestVersionDescriptionLength checks that Lambda accepts the descriptions of versions with the longest values on AWS:
// 256 characters.
func TestVersionDescriptionLength(t *testing.T) {
	t.Parallel()
	for _, r := range load(t, map[string]string{
		"OidcIssuer": "https://" + strings.Repeat("x", 104), "OidcClientId": strings.Repeat("x", 76),
		"OidcDefaultRole": "Viewer", "OidcGroupsClaim": strings.Repeat("x", 24), "GroupsMaxAgeDays": "365", "EventLogDays": "3650",
		"FreshnessMilliseconds": "60000", "FrontendOrigins": "https://" + strings.Repeat("x", 112),
		"TrustedProxies": strings.Repeat("1", 60) + "/8", "ClientOriginSecret": "/" + strings.Repeat("x", 47),
	}).Resources {
		if d, _ := r.Properties["VersionDescription"].(string); len(d) > 256 || (r.Properties["AutoPublishAlias"] != nil) != (d != "") {
			t.Errorf("%s: %d characters: %s", r.LogicalID, len(d), d)
		}
	}
}

// TestEnvironments checks the sections of samconfig.toml.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	config := regexp.MustCompile(`#.*`).ReplaceAllString(read(t, "samconfig.toml"), "")
	for environment, stage := range map[string]string{"default": "dev", "staging": "staging", "prod": "prod"} {
		sections := ""
		for section := range strings.SplitSeq(config, "\n[") {
			if strings.HasPrefix(section, environment+".") {
				sections += "\n" + section
			}
		}
		for _, setting := range []string{
			`stack_name = "toggleadmin-` + stage + `"`,
			`tags = ["application=toggleadmin", "stage=` + stage + `"]`,
			"cached = false",
		} {
			if !strings.Contains(sections, "\n"+setting) {
				t.Errorf("%s lacks %s", environment, setting)
			}
		}
		given := map[string]string{}
		for _, match := range regexp.MustCompile(`"([A-Z]\w+)=([^"]*)"`).FindAllStringSubmatch(sections, -1) {
			given[match[1]] = match[2]
		}
		if given["Architecture"]+given["DynamoDBEndpoint"] != "" || strings.Contains(sections, "build_dir") {
			t.Errorf("%s deploys the build or the engine of the environment local", environment)
		}
		careful := stage != "dev"
		if strings.Contains(given["DeploymentPreference"], "Percent") != careful ||
			(given["DeletionProtection"] == "true") != careful ||
			strings.Contains(sections, "\nconfirm_changeset = true") != (stage == "prod") {
			t.Errorf("%s: want a gradual deployment and protected tables except in dev, and a confirmation in prod only", environment)
		}
		if careful { // TestRejected checks that somebody receives the alarms
			given["AlarmEmail"] = everything["AlarmEmail"]
		}
		if got := load(t, given).API.Stage; got != stage {
			t.Errorf("%s deploys the stage %s, want %s", environment, got, stage)
		}
	}
}
