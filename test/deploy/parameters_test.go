package deploy_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/samtemplate"
)

// notHere are the parameters that keep their first value in the deployment with all second values, and why. They are built and linted.
func notHere() map[string]string {
	return map[string]string{
		"Architecture":         "the functions run on this machine, whatever the template says",
		"DeploymentPreference": "the emulator has no CodeDeploy",
	}
}

// named are second values of parameters that are free text. Of what they name the emulator looks up the hosted zone alone.
func named(address, zone string) map[string]string {
	return map[string]string{
		"Stage":            "second",
		"DynamoDBEndpoint": address,
		"HostedZoneId":     zone,
		"DomainName":       "toggles.example.com",
		"CertificateArn":   "arn:aws:acm:eu-west-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef",
		"AlarmEmail":       "alarms@example.com",
	}
}

// secondValues gives each parameter of a template another value than its default: that of a list beside it, the next number, or a named one.
func (d *document) secondValues(address, zone string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range keys(d.get("Parameters")) {
		if _, ok := notHere()[name]; ok {
			continue
		}
		parameter := d.get("Parameters", name)
		first := text(get(parameter, "Default"))
		value, ok := named(address, zone)[name]
		if allowed := items(get(parameter, "AllowedValues")); len(allowed) > 1 {
			at := slices.IndexFunc(allowed, func(n *yaml.Node) bool { return n.Value != first })
			value, ok = allowed[at].Value, true
		} else if number, err := strconv.Atoi(first); err == nil && text(get(parameter, "Type")) == "Number" {
			value, ok = strconv.Itoa(number+1), true
			if first == text(get(parameter, "MaxValue")) {
				value = strconv.Itoa(number - 1)
			}
		}
		if !ok || value == first {
			return nil, fmt.Errorf("the parameter %s has no second value: name one in test/deploy/parameters_test.go", name)
		}
		values[name] = value
	}
	return values, nil
}

// makeZone makes the hosted zone of the named domain, outside of the stack, and gives its id.
func (e *emulator) makeZone(ctx context.Context) (string, error) {
	const name, template = "zone", `{
		"Resources": {"Zone": {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "example.com"}}},
		"Outputs": {"Id": {"Value": {"Ref": "Zone"}}}
	}`
	client := cloudformation.NewFromConfig(e.config())
	if _, err := client.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: aws.String(name), TemplateBody: aws.String(template)}); err != nil {
		return "", fmt.Errorf("make a hosted zone: %w", err)
	}
	made, err := cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, time.Second
	}).WaitForOutput(ctx, &cloudformation.DescribeStacksInput{StackName: aws.String(name)}, patience)
	if err != nil {
		return "", fmt.Errorf("make a hosted zone: %w", err)
	}
	return aws.ToString(made.Stacks[0].Outputs[0].OutputValue), nil
}

// TestSecondValues: every parameter has one that its own rules allow, or a reason.
func TestSecondValues(t *testing.T) {
	t.Parallel()
	d := readDocument(t, absolute("template.yaml"))
	values, err := d.secondValues("http://127.0.0.1:8000", "Z0123456789ABCDEFGHIJ")
	if err != nil {
		t.Fatal(err)
	}
	if len(values) == 0 {
		t.Fatal("the template has no parameters")
	}
	if _, err := samtemplate.Load(absolute("template.yaml"), samtemplate.Settings{Parameters: values}); err != nil {
		t.Errorf("with %v: %v", values, err)
	}
}
