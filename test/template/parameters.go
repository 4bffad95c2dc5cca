// Package template contains tests of template.yaml, samconfig.toml and the documents about them. They check what
// neither CloudFormation's linters nor package samtemplate check: parts whose absence shows only during or after a
// deployment. Package test/e2e compares the DynamoDB permissions with what the functions use. What the package exports
// is for test/deploy.
package template

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Parameter is a parameter of the template.
type Parameter struct {
	Default               *string  `yaml:"Default"`
	Description           string   `yaml:"Description"`
	AllowedPattern        string   `yaml:"AllowedPattern"`
	AllowedValues         []string `yaml:"AllowedValues"`
	MaxValue              string   `yaml:"MaxValue"`
	ConstraintDescription string   `yaml:"ConstraintDescription"`
}

// Parameters reads the parameters of a template, and the names in the groups of the console.
func Parameters(tb testing.TB, file string) (all map[string]Parameter, grouped []string) {
	tb.Helper()
	var document struct {
		Metadata struct {
			Interface struct {
				ParameterGroups []struct {
					Parameters []string `yaml:"Parameters"`
				} `yaml:"ParameterGroups"`
			} `yaml:"AWS::CloudFormation::Interface"`
		} `yaml:"Metadata"`
		Parameters map[string]Parameter `yaml:"Parameters"`
	}
	content, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, &document)
	}
	if err != nil {
		tb.Fatal(err)
	}
	for _, group := range document.Metadata.Interface.ParameterGroups {
		grouped = append(grouped, group.Parameters...)
	}
	slices.Sort(grouped)
	return document.Parameters, grouped
}

// texts are values of parameters that have neither allowed values nor another number above the default.
var texts = map[string]string{
	"Stage": "second", "Version": "1.2.3+4567890a.modified", "DynamoDBEndpoint": "http://127.0.0.1:8000",
	"DomainName": "second.example.com", "HostedZoneId": "Z1", "AlarmEmail": "second@example.com",
	"WebhookSecretName": "/second/webhook", "WebhookEvents": "*", "MaxClientTokens": "1000",
	"FrontendOrigins": "https://second.example.com", "TrustedProxies": "cloudfront",
	"ClientOriginSecret": "/second/origin-secret",
	"OidcIssuer":         "https://issuer.invalid", "OidcClientId": "second", "OidcGroupsClaim": "second",
	"AlarmTopicArn":          "arn:aws:sns:us-east-1:123456789012:second",
	"PermissionsBoundaryArn": "arn:aws:iam::aws:policy/AdministratorAccess",
	"CertificateArn":         "arn:aws:acm:eu-west-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcde2",
	"WebAclArn":              "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/second/01234567-89ab-cdef-0123-456789abcdef",
}

// OtherValues returns values of a parameter that its own rules allow, except the default: at least one.
func (p Parameter) OtherValues(tb testing.TB, name string) []string {
	tb.Helper()
	values := slices.DeleteFunc(slices.Clone(p.AllowedValues), func(value string) bool { return value == *p.Default })
	if number, err := strconv.Atoi(*p.Default); err == nil && len(values) == 0 {
		values = []string{strconv.Itoa(number + 1)}
	}
	if text := texts[name]; text != "" {
		values = []string{text}
	}
	if len(values) == 0 {
		tb.Fatalf("no second value is known for the parameter %s", name)
	}
	return values
}
