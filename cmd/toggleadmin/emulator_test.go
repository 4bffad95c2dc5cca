package main_test

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/samtemplate"
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
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(endpoint.Hostname()); os.Getenv("STACK") == "" || endpoint.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		t.Skip("STACK and AWS_ENDPOINT_URL do not name a stack of an emulator on this machine; make test-deploy sets them")
	}
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e := &emulator{context.WithoutCancel(t.Context()), cfg, template}
	run(t, "testdata/emulator", withStack, commands{
		"make-stack": e.makeStack, "put-type": e.putType, "drop-table": e.dropTable, "counted": e.counted, "permit": e.permit,
	})
}

type object = map[string]any

// makeStack creates a stack without tables of the service, with one of them, or with all, and sets a variable to its name.
func (e *emulator) makeStack(ts *testscript.TestScript, _ bool, args []string) {
	arguments(ts, args, "make-stack none|one|all VAR")
	resources, outputs := object{"Queue": object{"Type": "AWS::SQS::Queue"}}, object{}
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
	_, err = client.CreateStack(e.ctx, &cloudformation.CreateStackInput{StackName: &name, TemplateBody: aws.String(string(body))})
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

// table returns the name of a stack's table.
func (e *emulator) table(ts *testscript.TestScript, stack, id string) *string {
	out, err := cloudformation.NewFromConfig(e.cfg).DescribeStackResource(e.ctx,
		&cloudformation.DescribeStackResourceInput{StackName: &stack, LogicalResourceId: &id})
	ts.Check(err)
	return out.StackResourceDetail.PhysicalResourceId
}

// putType adds a feature type to a stack's table.
func (e *emulator) putType(ts *testscript.TestScript, _ bool, args []string) {
	arguments(ts, args, "put-type STACK")
	_, err := dynamodb.NewFromConfig(e.cfg).PutItem(e.ctx, &dynamodb.PutItemInput{
		TableName: e.table(ts, args[0], "FeatureTypes"),
		Item:      dynamo.Item{"id": dynamo.S("release"), "name": dynamo.S("Release"), "description": dynamo.S(""), "position": dynamo.N(0)},
	})
	ts.Check(err)
}

// dropTable deletes a stack's table.
func (e *emulator) dropTable(ts *testscript.TestScript, _ bool, args []string) {
	arguments(ts, args, "drop-table STACK TABLE")
	_, err := dynamodb.NewFromConfig(e.cfg).DeleteTable(e.ctx, &dynamodb.DeleteTableInput{TableName: e.table(ts, args[0], args[1])})
	ts.Check(err)
}

// counted fails the script unless a stack's table has that number of items.
func (e *emulator) counted(ts *testscript.TestScript, _ bool, args []string) {
	arguments(ts, args, "counted STACK TABLE N")
	out, err := dynamodb.NewFromConfig(e.cfg).Scan(e.ctx, &dynamodb.ScanInput{TableName: e.table(ts, args[0], args[1])})
	ts.Check(err)
	if got := strconv.Itoa(len(out.Items)); got != args[2] {
		ts.Fatalf("%s items, want %s", got, args[2])
	}
}
