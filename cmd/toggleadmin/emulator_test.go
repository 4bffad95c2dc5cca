package main_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

// emulator creates stacks and users in an emulator of AWS.
type emulator struct {
	ctx      context.Context //nolint:containedctx // the context of the test
	cfg      aws.Config
	template *samtemplate.Template
}

func TestEmulator(t *testing.T) {
	t.Parallel()
	endpoint, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL"))
	if err != nil || os.Getenv("STACK") == "" || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"},
		endpoint.Hostname()) {
		t.Skip("STACK and AWS_ENDPOINT_URL do not name a stack of an emulator on this machine; make test-deploy sets them")
	}
	cfg, err := config.LoadDefaultConfig(t.Context())
	assert.OK(t, err)
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	e := &emulator{context.WithoutCancel(t.Context()), cfg, template}
	run(t, "testdata/emulator", withStack, commands{
		"make-stack": e.makeStack, "permit": e.permit,
	})
}

type object = map[string]any

// makeStack runs `make-stack none|one|all VAR`: it creates a stack with none of the service's tables, one or all, and
// sets VAR to its name.
func (e *emulator) makeStack(ts *testscript.TestScript, _ bool, args []string) {
	resources, outputs := object{}, object{}
	if args[0] == "none" {
		resources["Queue"] = object{"Type": "AWS::SQS::Queue"}
	}
	for _, r := range e.template.Resources {
		if args[0] == "none" || r.Type != "AWS::DynamoDB::Table" {
			continue
		}
		resources[r.LogicalID] = object{"Type": r.Type, "Properties": r.Properties}
		outputs["ApiUrl"] = object{"Value": "https://api.example.com/dev"}
		outputs[r.LogicalID+"Table"] = object{"Value": object{"Ref": r.LogicalID}}
		if args[0] == "one" {
			break
		}
	}
	body, err := json.Marshal(object{"Resources": resources, "Outputs": outputs})
	ts.Check(err)
	name := strings.Join([]string{args[0], strings.ToLower(args[1]), ts.Getenv("UNIQUE")}, "-")
	client := cloudformation.NewFromConfig(e.cfg)
	_, err = client.CreateStack(e.ctx, &cloudformation.CreateStackInput{StackName: &name,
		TemplateBody: aws.String(string(body))})
	ts.Check(err)
	ts.Defer(func() {
		if _, err := client.DeleteStack(e.ctx, &cloudformation.DeleteStackInput{StackName: &name}); err != nil {
			ts.Logf("delete the stack %s: %v", name, err)
		}
	})
	ts.Check(cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	}).Wait(e.ctx, &cloudformation.DescribeStacksInput{StackName: &name}, time.Minute))
	ts.Setenv(args[1], name)
}
