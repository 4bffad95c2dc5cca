package toggleadmin_test

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
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/samtemplate"
)

// emulator makes stacks, tables and permissions to go wrong with, in an emulator of AWS on this machine and nowhere else.
type emulator struct {
	cfg    aws.Config
	tables []samtemplate.Table
}

// usual bounds one set-up in the emulator.
const usual = time.Minute

func isOnThisMachine(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func TestEmulator(t *testing.T) {
	t.Parallel()
	if os.Getenv("STACK") == "" || !isOnThisMachine(os.Getenv("AWS_ENDPOINT_URL")) {
		t.Skip("STACK and AWS_ENDPOINT_URL name no stack in an emulator on this machine; make test-deploy sets them")
	}
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e := &emulator{cfg: cfg, tables: template.Tables}
	run(t, "testdata/emulator", stackSetup(program(t)), map[string]func(*testscript.TestScript, bool, []string){
		"make-stack": e.makeStack, "put-type": e.putType, "drop-table": e.dropTable, "counted": e.counted, "permit": e.permit,
	})
}

// object is a piece of a CloudFormation template.
type object = map[string]any

// makeStack makes a stack of a kind and puts its name into a variable: `make-stack other|half|tables VAR`.
func (e *emulator) makeStack(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "make-stack other|half|tables VAR")
	resources, outputs := object{"Queue": object{"Type": "AWS::SQS::Queue"}}, object{}
	if args[0] != "other" {
		outputs["ApiUrl"] = object{"Value": "https://api.example.com/dev"}
		resources = object{}
		for _, t := range e.tables {
			resources[t.LogicalID] = tableResource(&t)
			if outputs[t.LogicalID+"Table"] = (object{"Value": object{"Ref": t.LogicalID}}); args[0] == "half" {
				break
			}
		}
	}
	name := strings.Join([]string{args[0], strings.ToLower(args[1]), ts.Getenv("UNIQUE")}, "-")
	e.create(ts, name, resources, outputs)
	ts.Setenv(args[1], name)
}

func tableResource(t *samtemplate.Table) object {
	attributes := map[string]string{}
	schema := func(keys ...samtemplate.Attribute) (list []object) {
		for i, k := range keys {
			if k.Name != "" {
				attributes[k.Name] = k.Type
				list = append(list, object{"AttributeName": k.Name, "KeyType": []string{"HASH", "RANGE"}[i]})
			}
		}
		return list
	}
	properties := object{"BillingMode": "PAY_PER_REQUEST", "KeySchema": schema(t.Hash, t.Range)}
	var indexes []object
	for _, i := range t.Indexes {
		indexes = append(indexes, object{
			"IndexName": i.Name, "KeySchema": schema(i.Hash, i.Range), "Projection": object{"ProjectionType": i.Projection},
		})
	}
	if indexes != nil {
		properties["GlobalSecondaryIndexes"] = indexes
	}
	if t.StreamViewType != "" {
		properties["StreamSpecification"] = object{"StreamViewType": t.StreamViewType}
	}
	var definitions []object
	for name, kind := range attributes {
		definitions = append(definitions, object{"AttributeName": name, "AttributeType": kind})
	}
	properties["AttributeDefinitions"] = definitions
	return object{"Type": "AWS::DynamoDB::Table", "Properties": properties}
}

// create makes a stack and gives its outputs; it is deleted when the script ends.
func (e *emulator) create(ts *testscript.TestScript, name string, resources, outputs object) map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), usual)
	defer cancel()
	body, err := json.Marshal(object{"Resources": resources, "Outputs": outputs})
	ts.Check(err)
	client := cloudformation.NewFromConfig(e.cfg)
	_, err = client.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(string(body)), Capabilities: []types.Capability{types.CapabilityCapabilityIam},
	})
	ts.Check(err)
	ts.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), usual)
		defer cancel()
		if _, err := client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &name}); err != nil {
			ts.Logf("delete the stack %s: %v", name, err)
		}
	})
	made, err := cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	}).WaitForOutput(ctx, &cloudformation.DescribeStacksInput{StackName: &name}, usual)
	ts.Check(err)
	values := map[string]string{}
	for _, o := range made.Stacks[0].Outputs {
		values[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return values
}

// table is the name of a stack's table.
func (e *emulator) table(ctx context.Context, ts *testscript.TestScript, stack, id string) string {
	out, err := cloudformation.NewFromConfig(e.cfg).DescribeStackResource(ctx,
		&cloudformation.DescribeStackResourceInput{StackName: &stack, LogicalResourceId: &id})
	ts.Check(err)
	return aws.ToString(out.StackResourceDetail.PhysicalResourceId)
}

// putType puts one feature type into a stack's table: `put-type STACK`.
func (e *emulator) putType(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "put-type STACK")
	ctx, cancel := context.WithTimeout(context.Background(), usual)
	defer cancel()
	_, err := dynamodb.NewFromConfig(e.cfg).PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(e.table(ctx, ts, args[0], "FeatureTypes")),
		Item:      dynamo.Item{"id": dynamo.S("release"), "name": dynamo.S("Release"), "description": dynamo.S(""), "position": dynamo.N(0)},
	})
	ts.Check(err)
}

// dropTable deletes a stack's table by hand: `drop-table STACK TABLE`.
func (e *emulator) dropTable(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "drop-table STACK TABLE")
	ctx, cancel := context.WithTimeout(context.Background(), usual)
	defer cancel()
	_, err := dynamodb.NewFromConfig(e.cfg).DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(e.table(ctx, ts, args[0], args[1]))})
	ts.Check(err)
}

// counted fails the script unless a stack's table holds so many items: `counted STACK TABLE N`.
func (e *emulator) counted(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 3, "counted STACK TABLE N")
	ctx, cancel := context.WithTimeout(context.Background(), usual)
	defer cancel()
	out, err := dynamodb.NewFromConfig(e.cfg).Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(e.table(ctx, ts, args[0], args[1]))})
	ts.Check(err)
	if got := strconv.Itoa(len(out.Items)); got != args[2] {
		ts.Fatalf("%s items, want %s", got, args[2])
	}
}
