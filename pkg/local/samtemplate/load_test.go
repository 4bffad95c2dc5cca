package samtemplate_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/samtemplate"
)

// small uses every part of the model once.
const small = `Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: dev, AllowedPattern: '[a-z]+', MaxLength: 5}
  Limit: {Type: Number, Default: 10, MinValue: 1, MaxValue: 100}
  Color: {Type: String, Default: red, AllowedValues: [red, blue]}
Rules:
  BlueIsTest:
    RuleCondition: !Equals [!Ref Color, blue]
    Assertions: [{Assert: !Equals [!Ref Stage, test], AssertDescription: blue needs the stage test}]
Mappings: {Colors: {red: {Memory: 1769, Gradual: false}, blue: {Memory: 128, Gradual: true}}}
Conditions: {Blue: !Equals [!Ref Color, blue], Red: !Not [!And [!Condition Blue, !Equals [!Ref Color, blue]]]}
Globals: {Function: {Runtime: provided.al2023, Handler: bootstrap, Timeout: 10, Architectures: [arm64], Environment: {Variables: {A: 1,
  B: global}}}}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: !Ref Stage
      Auth:
        DefaultAuthorizer: Token
        Authorizers:
          Token:
            FunctionArn: !If [Blue, !GetAtt CheckFunction.Arn, !Ref CheckFunction.Alias]
            FunctionPayloadType: REQUEST
            Identity: {Headers: [Authorization], ReauthorizeEvery: !Ref Limit}
      AccessLogSetting: {DestinationArn: !GetAtt Lines.Arn, Format: !Sub ['{"${A}":"$context.status ${Limit}"}', {A: !If [Red, b, c]}]}
      DefinitionBody: {paths: {/none: {x-amazon-apigateway-any-method: {security: [{NONE: []}], x-amazon-apigateway-integration: {uri: !Sub 'arn:a:b/${WorkFunction.Alias}/invocations'}}}}}
      GatewayResponses: {THROTTLED: {StatusCode: 429, ResponseParameters: {Headers: {X: "'1'"}}, ResponseTemplates: {application/json: '{}'}}}
  Lines: {Type: AWS::Logs::LogGroup, DeletionPolicy: Retain, Metadata: {note: x}, Properties: {Name: !Sub '${AWS::StackName}-${Limit}', None: !Ref AWS::NoValue}}
  Hidden: {Type: AWS::Logs::LogGroup, Condition: Blue}
  Queue: {Type: AWS::SQS::Queue}
  CheckFunction: {<<: &function {Type: AWS::Serverless::Function, Properties: {}}, Properties: {CodeUri: functions/check/, Events: {Jobs: {Type: SQS, Properties: {
    Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}}}}
  WorkFunction:
    <<: *function
    Properties:
      CodeUri: functions/work/
      MemorySize: !FindInMap [Colors, !Ref Color, Memory]
      Timeout: 5
      Architectures: [x86_64]
      Role: !GetAtt Role.Arn
      Environment: {Variables: {B: own, TABLE: !Ref Things}}
      EventInvokeConfig: {MaximumRetryAttempts: 0, DestinationConfig: &failures {OnFailure: {Type: SQS, Destination: !GetAtt Queue.Arn}}}
      Events:
        Get: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/things/{id}', Method: get}}
        Any: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /, Method: any, Auth: {Authorizer: NONE}}}
        Stream: {Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn, StartingPosition: TRIM_HORIZON, BatchSize: 7,
          FunctionResponseTypes: [ReportBatchItemFailures], DestinationConfig: *failures}}
        Minutes: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(2 minutes)}}
        Log: {Type: CloudWatchLogs, Properties: {LogGroupName: !Ref Lines, FilterPattern: ''}}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      Policies:
        - PolicyName: p
          PolicyDocument: {Statement: [{Effect: Allow, Action: [dynamodb:Query], Resource: [!Sub '${Things.Arn}/index/byTime']}]}
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: N}, {AttributeName: at, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}, {AttributeName: at, KeyType: RANGE}]
      GlobalSecondaryIndexes:
        - {IndexName: byTime, KeySchema: [{AttributeName: at, KeyType: HASH}], Projection: {ProjectionType: ALL}}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}
  Bus: {Type: AWS::Events::EventBus}
  Rule: {Type: AWS::Events::Rule, Properties: {EventBusName: !Ref Bus, EventPattern: {source: [toggleadmin]},
    Targets: [{Id: jobs, Arn: !GetAtt Jobs.Arn, InputPath: $.detail}]}}
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 60, RedrivePolicy: {deadLetterTargetArn: !GetAtt Queue.Arn, maxReceiveCount: 3}}}
Outputs:
  Joined: {Value: !Join [-, !Split [/, a/b]]}
  Selected: {Value: !Select [1, !Split [/, a/b]]}
  Table: {Value: !Ref Things}
  None: {Condition: Blue, Value: !Ref Hidden}
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := samtemplate.Parse("template.yaml", []byte(small),
		samtemplate.Settings{Region: "eu-west-1", AccountID: "000000000012"})
	if err != nil {
		t.Fatal(err)
	}
	properties := map[string]map[string]any{}
	for _, r := range got.Resources {
		properties[r.LogicalID] = r.Properties
	}
	if got := got.Resources[1]; got.LogicalID != "Lines" || got.DeletionPolicy != "Retain" || got.Metadata["note"] != "x" {
		t.Errorf("resource %+v", got)
	}
	if _, ok := properties["Hidden"]; ok {
		t.Error("a resource is created though its condition is false")
	}
	if diff := cmp.Diff(map[string]any{"Name": "local-10"}, properties["Lines"]); diff != "" {
		t.Error(diff)
	}
	merged := []any{properties["WorkFunction"]["MemorySize"], properties["WorkFunction"]["Architectures"]}
	if diff := cmp.Diff([]any{1769, []any{"arm64", "x86_64"}}, merged); diff != "" {
		t.Error(diff)
	}
	got.Resources = nil
	id, at := samtemplate.Attribute{Name: "id", Type: "N"}, samtemplate.Attribute{Name: "at", Type: "S"}
	want := &samtemplate.Template{
		API: samtemplate.API{
			LogicalID: "Api", Stage: "dev", AccessLogFormat: `{"b":"$context.status 10"}`, AccessLogGroup: "Lines",
			Authorizer: samtemplate.Authorizer{
				Name: "Token", Function: "CheckFunction", IdentityHeaders: []string{"Authorization"}, TTL: 10 * time.Second,
			},
			Routes: []samtemplate.Route{
				{Path: "/none", Method: "ANY", Function: "WorkFunction"},
				{Path: "/things/{id}", Method: "GET", Function: "WorkFunction", Authorized: true},
				{Path: "/", Method: "ANY", Function: "WorkFunction"},
			},
			GatewayResponses: map[string]samtemplate.GatewayResponse{"THROTTLED": {
				StatusCode: 429, ResponseTemplates: map[string]string{"application/json": "{}"},
			}},
		},
		Functions: []samtemplate.Function{
			{
				LogicalID: "CheckFunction", Name: "check", Timeout: 10 * time.Second, AsyncRetries: 2,
				Environment: map[string]string{"A": "1", "B": "global"},
				Queues:      []samtemplate.QueueMapping{{Queue: "Jobs", BatchSize: 10}},
			},
			{
				LogicalID: "WorkFunction", Name: "work", Timeout: 5 * time.Second, Role: "Role", AsyncOnFailure: "Queue",
				Environment: map[string]string{"A": "1", "B": "own", "TABLE": "Things"},
				Policies: []samtemplate.Statement{{
					Effect: "Allow", Actions: []string{"dynamodb:Query"},
					Resources: []string{"arn:aws:dynamodb:eu-west-1:000000000012:table/Things/index/byTime"},
				}},
				Streams: []samtemplate.Stream{{
					Table: "Things", BatchSize: 7, RetryAttempts: -1, OnFailure: "Queue",
				}},
				Schedules:        []samtemplate.Schedule{{Name: "WorkFunctionMinutes", Every: 2 * time.Minute}},
				LogSubscriptions: []samtemplate.LogSubscription{{LogGroup: "Lines"}},
			},
		},
		Tables: []samtemplate.Table{{
			LogicalID: "Things", Name: "Things", Hash: id, Range: at, StreamViewType: "NEW_IMAGE", TTLAttribute: "expiresAt",
			Indexes: []samtemplate.Index{{Name: "byTime", Hash: at, Projection: "ALL"}},
		}},
		Queues: []samtemplate.Queue{
			{LogicalID: "Queue", VisibilityTimeout: 30 * time.Second},
			{LogicalID: "Jobs", VisibilityTimeout: time.Minute, DeadLetterQueue: "Queue", MaxReceiveCount: 3},
		},
		Rules:   []samtemplate.Rule{{Queue: "Jobs"}},
		Outputs: map[string]string{"Table": "Things", "Joined": "a-b", "Selected": "b"},
	}
	throttled := want.API.GatewayResponses["THROTTLED"]
	throttled.ResponseParameters.Headers = map[string]string{"X": "'1'"}
	want.API.GatewayResponses["THROTTLED"] = throttled
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestProjectTemplate loads the template that is deployed.
func TestProjectTemplate(t *testing.T) {
	t.Parallel()
	got, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if names := samtemplate.TableNames(got.Tables); names["ApiTokens"] != "ApiTokens" ||
		got.API.Authorizer.Function != "AuthorizerFunction" {
		t.Errorf("tables %v, authorizer %+v", names, got.API.Authorizer)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, parameter, value, want string }{
		{"pattern", "Stage", "X", `3: Stage: the value "X" is not valid: it must match [a-z]+`},
		{"length", "Stage", "abcdef", `3: Stage: the value "abcdef" is not valid: it must have at most 5 characters`},
		{"number", "Limit", "many",
			`4: Limit: the value "many" is not valid: it must be a number within MinValue and MaxValue`},
		{"minimum", "Limit", "0", `4: Limit: the value "0" is not valid: it must be a number within MinValue and MaxValue`},
		{"maximum", "Limit", "101",
			`4: Limit: the value "101" is not valid: it must be a number within MinValue and MaxValue`},
		{"allowed values", "Color", "green", `5: Color: the value "green" is not valid: it must be one of [red blue]`},
		{"unknown parameter", "Size", "1", "3: the template: the template has no parameter Size"},
		{"rule", "Color", "blue", "9: BlueIsTest: blue needs the stage test"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			settings := samtemplate.Settings{Parameters: map[string]string{tt.parameter: tt.value}}
			_, err := samtemplate.Parse("template.yaml", []byte(small), settings)
			if want := "template.yaml:" + tt.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	all := samtemplate.Settings{Parameters: map[string]string{"Stage": "test", "Limit": "100", "Color": "blue"}}
	if _, err := samtemplate.Parse("template.yaml", []byte(small), all); err != nil {
		t.Errorf("valid parameters: %v", err)
	}
}

// TestUnsupported replaces a part of the small template with something that the local gateway does not support.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	const only = " is not supported by the local gateway, only "
	for _, tt := range []struct{ name, old, replacement, want string }{
		{"empty", small, "", " the template is empty"},
		{"not YAML", small, "a: [", " yaml: line 1: did not find expected node content"},
		{"duplicate key", "Timeout: 5", "Timeout: 5\n      Timeout: 6",
			` yaml: unmarshal errors: line 40: mapping key "Timeout" already defined at line 39`},
		{"no API", "AWS::Serverless::Api", "AWS::ApiGateway::RestApi",
			"45: WorkFunction: RestApiId must be the API of this template: SAM would create a second one"},
		{"resource type", "AWS::SQS::Queue", "AWS::S3::Bucket",
			`31: Queue: the resource type "AWS::S3::Bucket" is not supported by the local gateway`},
		{"properties", "{Type: AWS::SQS::Queue}", "{Type: AWS::SQS::Queue, Properties: [x]}",
			"31: Queue: Properties must be a mapping"},
		{"property", "MemorySize: !FindInMap", "Layers: !FindInMap",
			"38: WorkFunction: Layers is not supported by the local gateway"},
		{"nested property", "{Headers: [Authorization],", "{Headers: [Authorization], Context: [x],",
			"25: Api: Context is not supported by the local gateway"},
		{"type of a property", "Timeout: 5", "Timeout: five", "37: WorkFunction: "},
		{"reference", "!Ref Things}}", "!Ref Thing}}", `42: WorkFunction: there is no parameter or resource "Thing"`},
		{"conditional resource", "Value: !Ref Things", "Value: !Ref Hidden",
			"75: Table: the resource Hidden is not created: its condition Blue is false"},
		{"attribute", "!GetAtt Role.Arn", "!GetAtt Role.Id",
			"41: WorkFunction: the attribute Id of Role (AWS::IAM::Role) is not supported by the local gateway"},
		{"condition", "!If [Blue,", "!If [Green,", `23: Api: there is no condition "Green"`},
		{"mapping", "Color, Memory]", "Color, Size]", "38: WorkFunction: FindInMap: the mapping has no such key"},
		{"item of a list", "!Select [1,", "!Select [2,", "74: Selected: Select: the list has no item 2"},
		{"function", "!Sub '${AWS::StackName}-${Limit}'", "!Base64 a",
			"29: Lines: this use of !Base64 is not supported by the local gateway"},
		{"function in a condition", "Blue: !Equals", "Blue: !Or",
			"11: Api: a condition supports only !Equals, !Not, !And and !Condition"},
		{"long form", "Value: !Ref Things", "Value: {Ref: Things}",
			"75: Table: the long form Ref is not supported, use the short form"},
		{"merge key", "Timeout: 5", "<<: [{Timeout: 5}]",
			"39: WorkFunction: a YAML merge key supports only one mapping"},
		{"runtime", "provided.al2023", "go1.x", "32: CheckFunction: Runtime go1.x" + only + "provided.al2023"},
		{"folder", "functions/work/", "src/work/", "34: WorkFunction: CodeUri in the folder src/" + only + "functions/"},
		{"variable", "B: own", "B: [own]", "42: WorkFunction: every environment variable must be a text"},
		{"authorizer", "FunctionPayloadType: REQUEST", "FunctionPayloadType: TOKEN",
			"15: Api: FunctionPayloadType TOKEN" + only + "REQUEST"},
		{"event", "Type: ScheduleV2", "Type: SNS",
			`49: WorkFunction: the event type "SNS" is not supported by the local gateway`},
		{"another API", "RestApiId: !Ref Api, Path: /,", "Path: /,",
			"46: WorkFunction: RestApiId must be the API of this template: SAM would create a second one"},
		{"method in the definition", "x-amazon-apigateway-any-method", "get",
			"15: Api: /none get is not supported by the local gateway, only x-amazon-apigateway-any-method"},
		{"function in the definition", "${WorkFunction.Alias}/invocations", "arn:c/invocations",
			`15: Api: "arn:c" is not an AWS::Serverless::Function of this template`},
		{"authorizer of a route", "Authorizer: NONE", "Authorizer: AWS_IAM", "46: WorkFunction: Authorizer AWS_IAM" + only +
			"NONE"},
		{"stream position", "TRIM_HORIZON", "LATEST", "47: WorkFunction: StartingPosition LATEST" + only + "TRIM_HORIZON"},
		{"stream window", "BatchSize: 7,", "MaximumBatchingWindowInSeconds: 1,",
			"47: WorkFunction: MaximumBatchingWindowInSeconds 1" + only + "0"},
		{"stream response", "BatchSize: 7,\n          FunctionResponseTypes: [ReportBatchItemFailures],", "BatchSize: 7,",
			"47: WorkFunction: FunctionResponseTypes " + only + "ReportBatchItemFailures"},
		{"stream of nothing", "!GetAtt Things.StreamArn", "x",
			`47: WorkFunction: "x" is not an AWS::DynamoDB::Table of this template`},
		{"table without a stream", "      StreamSpecification: {StreamViewType: NEW_IMAGE}\n", "",
			"47: WorkFunction: the table Things has no StreamSpecification"},
		{"destination", "Type: SQS, Destination", "Type: SNS, Destination", "34: WorkFunction: OnFailure.Type SNS" + only +
			"SQS"},
		{"schedule", "rate(2 minutes)", "rate(2 hours)",
			`49: WorkFunction: ScheduleExpression "rate(2 hours)" is not supported by the local gateway, only rate(N minutes)`},
		{"queue", "FunctionResponseTypes: [ReportBatchItemFailures]}}}}}", "BatchSize: 1}}}}}",
			"32: CheckFunction: FunctionResponseTypes " + only + "ReportBatchItemFailures"},
		{"rule", "InputPath: $.detail", "InputPath: $.id", "69: Rule: InputPath $.id" + only + "$.detail"},
		{"bus", "EventBusName: !Ref Bus", "EventBusName: default", "69: Rule: EventBusName must be a bus of this template"},
		{"log group", "LogGroupName: !Ref Lines", "LogGroupName: x",
			`50: WorkFunction: LogGroupName "x" is not a log group of this template`},
		{"filter", "FilterPattern: ''", "FilterPattern: a", "50: WorkFunction: FilterPattern a" + only},
		{"billing", "PAY_PER_REQUEST", "PROVISIONED", "58: Things: BillingMode PROVISIONED" + only + "PAY_PER_REQUEST"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content := strings.Replace(small, tt.old, tt.replacement, 1)
			_, err := samtemplate.Parse("template.yaml", []byte(content), samtemplate.Settings{})
			if want := "template.yaml:" + tt.want; err == nil || !strings.HasPrefix(err.Error(), want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestLoadWithoutFile(t *testing.T) {
	t.Parallel()
	if _, err := samtemplate.Load(filepath.Join(t.TempDir(), "template.yaml"), samtemplate.Settings{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
