package deploy_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

// hostedZone is a zone, which the emulator looks up.
const hostedZone = `{"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "example.com"}}`

// webhookSecret is the parameter with the secret of the webhook.
const webhookSecret = `{"Type": "AWS::SSM::Parameter", "Properties":
	{"Name": "/second/webhook", "Type": "String", "Value": "https://webhook.invalid whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}}`

// TestParameters deploys with another value than the default for every parameter, and checks the stack.
func TestParameters(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	started := time.Now()
	e.createResource(t, webhookSecret)
	var s *stack
	step(t, "make deploy, every parameter changed", func(t *testing.T) {
		values := otherValues(t, e.createResource(t, hostedZone))
		s = e.deploy(t, deployment{environment: "default", name: "second", parameters: values})
	})
	step(t, "seed", func(t *testing.T) { s.seed(t) })
	s.checkAll(t)
	step(t, "an event reaches the function of the webhook", func(t *testing.T) { // and no further: the host does not exist
		await(t, "the log line", func() bool {
			return strings.Contains(strings.Join(s.logLines(t, "Logs", started), ""), "event not delivered")
		})
	})
}

// TestOtherValues checks that every parameter has another value that its own rules allow.
func TestOtherValues(t *testing.T) {
	t.Parallel()
	values := otherValues(t, "Z0123456789ABCDEFGHIJ")
	if _, err := samtemplate.Load(absolute(t, "template.yaml"), samtemplate.Settings{Parameters: values}); err != nil {
		t.Errorf("with %v: %v", values, err)
	}
}

// otherValues returns another value than the default for each parameter.
func otherValues(t *testing.T, zone string) map[string]string {
	t.Helper()
	values := map[string]string{}
	parameters, _ := template.Parameters(t, absolute(t, "template.yaml"))
	for name, parameter := range parameters {
		values[name] = parameter.OtherValues(t, name)[0]
	}
	// The functions are built for this machine. The emulator has no CodeDeploy or association of web ACLs, and one
	// endpoint, which functions have in their variable. The alarms have one topic. The scripts expect that a deleted token
	// is rejected at once.
	for _, name := range []string{
		"Architecture", "DeploymentPreference", "WebAclArn", "UseFipsEndpoint", "UseDualStackEndpoint", "AlarmTopicArn",
		"AuthorizerCacheSeconds", "DynamoDBEndpoint",
	} {
		delete(values, name)
	}
	values["HostedZoneId"] = zone
	values["MaxTokenDays"] = "36500" // the tokens of the scripts expire in 2099
	return values
}
