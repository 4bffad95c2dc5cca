package samtemplate_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
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
      DefinitionBody:
        paths:
          /:
            x-amazon-apigateway-any-method:
              security: [NONE: []]
              x-amazon-apigateway-integration: &work {type: aws_proxy, httpMethod: POST, credentials: !GetAtt Role.Arn, uri: !Sub 'arn:a:b/functions/${WorkFunction.Alias}/invocations'}
          /things/{id}: {get: {x-amazon-apigateway-integration: *work}, put: {x-amazon-apigateway-integration: {uri: !Ref AWS::NoValue}}}
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
        Stream: {Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn, StartingPosition: TRIM_HORIZON, BatchSize: 7,
          FunctionResponseTypes: [ReportBatchItemFailures], DestinationConfig: *failures,
          FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}]}}}
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
  Nested: {Type: AWS::Serverless::Application, Properties: {Location: nested.yaml, Parameters: {Stream: !GetAtt Things.StreamArn, Limit: !Ref Limit}}}
Outputs:
  Joined: {Value: !Join [-, !Split [/, a/b]]}
  Selected: {Value: !Select [1, !Split [/, a/b]]}
  Table: {Value: !Ref Things}
  None: {Condition: Blue, Value: !Ref Hidden}
  Nested: {Value: !GetAtt Nested.Outputs.Queue}
`

// nested is a template that small nests.
const nested = `Parameters: {Stream: {Type: String}, Limit: {Type: Number}}
Globals: {Function: {Runtime: provided.al2023, Handler: bootstrap, Environment: {Variables: {LIMIT: !Ref Limit}}}}
Resources:
  ReadFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/read/
      Events:
        Stream: {Type: DynamoDB, Properties: {Stream: !Ref Stream, StartingPosition: TRIM_HORIZON, FunctionResponseTypes: [ReportBatchItemFailures]}}
  Unread: {Type: AWS::SQS::Queue}
Outputs: {Queue: {Value: !Sub '${AWS::StackName} ${Unread}'}}
`

// parse reads and resolves a template.
func parse(content string, s samtemplate.Settings) (*samtemplate.Template, error) {
	files := fstest.MapFS{"template.yaml": {Data: []byte(content)}, "nested.yaml": {Data: []byte(nested)}}
	document, err := samtemplate.Parse(files, "template.yaml")
	if err != nil {
		return nil, err
	}
	return document.Resolve(s)
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := parse(small, samtemplate.Settings{Region: "eu-west-1", AccountID: "000000000012"})
	assert.OK(t, err)
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
	assert.Equal(t, map[string]any{"Name": "local-10"}, properties["Lines"])
	merged := []any{properties["WorkFunction"]["MemorySize"], properties["WorkFunction"]["Architectures"]}
	assert.Equal(t, []any{1769, []any{"x86_64"}}, merged)
	got.Resources = nil
	assert.JSON(t, "testdata/small.json", got)
}

// TestProjectTemplate loads the template that is deployed.
func TestProjectTemplate(t *testing.T) {
	t.Parallel()
	got, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	if got.Tables[0].Name != "Feedback" || got.API.Authorizer.Function != "AuthorizerFunction" {
		t.Errorf("tables %v, authorizer %+v", got.Tables, got.API.Authorizer)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parameter string
		value     string
		want      string // error
	}{
		{"Stage", "X", `3: Stage: the value "X" is not valid: it must match [a-z]+`},
		{"Stage", "abcdef", `3: Stage: the value "abcdef" is not valid: it must have at most 5 characters`},
		{"Limit", "many", `4: Limit: the value "many" is not valid: it must be a number within MinValue and MaxValue`},
		{"Limit", "0", `4: Limit: the value "0" is not valid: it must be a number within MinValue and MaxValue`},
		{"Limit", "101", `4: Limit: the value "101" is not valid: it must be a number within MinValue and MaxValue`},
		{"Color", "green", `5: Color: the value "green" is not valid: it must be one of [red blue]`},
		{"Size", "1", "3: the template: the template has no parameter Size"},
		{"Color", "blue", "9: BlueIsTest: blue needs the stage test"},
	} {
		settings := samtemplate.Settings{Parameters: map[string]string{test.parameter: test.value}}
		_, err := parse(small, settings)
		if want := "template.yaml:" + test.want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	all := samtemplate.Settings{Parameters: map[string]string{"Stage": "test", "Limit": "100", "Color": "blue"}}
	if _, err := parse(small, all); err != nil {
		t.Errorf("valid parameters: %v", err)
	}
}

// TestUnsupported replaces a part of the small template with something that the local gateway does not support.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	check := func(content, want string) {
		t.Helper()
		_, err := parse(content, samtemplate.Settings{})
		if err == nil || !strings.HasPrefix(err.Error(), "template.yaml:"+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	check("", " the template is empty")
	check("a: [", " yaml: line 1: did not find expected node content")
	for _, test := range []struct {
		part        string // of the small template
		replacement string
		want        string // beginning of the error
	}{
		{
			part:        "Timeout: 5",
			replacement: "Timeout: 5\n      Timeout: 6",
			want:        ` yaml: unmarshal errors: line 46: mapping key "Timeout" already defined at line 45`,
		},
		{
			part:        "AWS::SQS::Queue",
			replacement: "AWS::S3::Bucket",
			want:        `37: Queue: the resource type "AWS::S3::Bucket" is not supported by the local gateway`,
		},
		{"{Type: AWS::SQS::Queue}", "{Type: AWS::SQS::Queue, Properties: [x]}", "37: Queue: Properties must be a mapping"},
		{"MemorySize: !FindInMap", "Layers: !FindInMap", "43: WorkFunction: Layers is not supported by the local gateway"},
		{
			part:        "{Headers: [Authorization],",
			replacement: "{Headers: [Authorization], Context: [x],",
			want:        "18: Api: Context is not supported by the local gateway",
		},
		{"Timeout: 5", "Timeout: five", "43: WorkFunction: "},
		{"!Ref Things}}", "!Ref Thing}}", `48: WorkFunction: there is no parameter or resource "Thing"`},
		{
			part:        "Value: !Ref Things",
			replacement: "Value: !Ref Hidden",
			want:        "81: Table: the resource Hidden is not created: its condition Blue is false",
		},
		{
			part:        "Role: !GetAtt Role.Arn",
			replacement: "Role: !GetAtt Role.Id",
			want:        "47: WorkFunction: the attribute Id of Role (AWS::IAM::Role) is not supported by the local gateway",
		},
		{"!If [Blue,", "!If [Green,", `23: Api: there is no condition "Green"`},
		{"Color, Memory]", "Color, Size]", "44: WorkFunction: FindInMap: the mapping has no such key"},
		{"!Select [1,", "!Select [2,", "80: Selected: Select: the list has no item 2"},
		{
			part:        "!Sub '${AWS::StackName}-${Limit}'",
			replacement: "!Base64 a",
			want:        "35: Lines: this use of !Base64 is not supported by the local gateway",
		},
		{"Blue: !Equals", "Blue: !Or", "11: Api: a condition supports only !Equals, !Contains, !Not, !And and !Condition"},
		{"Value: !Ref Things", "Value: {Ref: Things}", "81: Table: the long form Ref is not supported, use the short form"},
		{"Timeout: 5", "<<: [{Timeout: 5}]", "45: WorkFunction: a YAML merge key supports only one mapping"},
		{
			part:        "provided.al2023",
			replacement: "go1.x",
			want:        "38: CheckFunction: Runtime go1.x is not supported by the local gateway, only provided.al2023",
		},
		{
			part:        "functions/work/",
			replacement: "src/work/",
			want:        "40: WorkFunction: CodeUri in the folder src/ is not supported by the local gateway, only functions/",
		},
		{"B: own", "B: [own]", "48: WorkFunction: every environment variable must be a text"},
		{
			part:        "FunctionPayloadType: REQUEST",
			replacement: "FunctionPayloadType: TOKEN",
			want:        "15: Api: FunctionPayloadType TOKEN is not supported by the local gateway, only REQUEST",
		},
		{"Type: ScheduleV2", "Type: SNS", `54: WorkFunction: the event type "SNS" is not supported by the local gateway`},
		{"type: aws_proxy", "type: http", "29: Api: / any: type http is not supported by the local gateway, only aws_proxy"},
		{"httpMethod: POST", "httpMethod: GET", "29: Api: / any: httpMethod GET is not supported by the local gateway, only POST"},
		{
			part:        "security: [NONE: []]",
			replacement: "security: [Token: []]",
			want: "29: Api: / any: security [map[Token:[]]] is not supported by the local gateway, " +
				"only [map[NONE:[]]]",
		},
		{"credentials: !GetAtt Role.Arn", "credentials: x", `29: Api: "x" is not an AWS::IAM::Role of this template`},
		{
			part:        "${WorkFunction.Alias}/invocations",
			replacement: "arn:c/invocations",
			want:        `29: Api: "arn:c" is not an AWS::Serverless::Function of this template`,
		},
		{
			part:        "TRIM_HORIZON",
			replacement: "LATEST",
			want:        "51: WorkFunction: StartingPosition LATEST is not supported by the local gateway, only TRIM_HORIZON",
		},
		{
			part:        "BatchSize: 7,",
			replacement: "MaximumBatchingWindowInSeconds: 1,",
			want:        "51: WorkFunction: MaximumBatchingWindowInSeconds 1 is not supported by the local gateway, only 0",
		},
		{
			part:        `'{"eventName":["INSERT"]}'`,
			replacement: `'{"dynamodb":{}}'`,
			want:        `51: WorkFunction: the filter {"dynamodb":{}} is not supported by the local gateway, only one of eventName`,
		},
		{
			part:        "BatchSize: 7,\n          FunctionResponseTypes: [ReportBatchItemFailures],",
			replacement: "BatchSize: 7,",
			want:        "51: WorkFunction: FunctionResponseTypes  is not supported by the local gateway, only ReportBatchItemFailures",
		},
		{"!GetAtt Things.StreamArn", "x", `51: WorkFunction: "x" is not an AWS::DynamoDB::Table of this template`},
		{
			part: "      StreamSpecification: {StreamViewType: NEW_IMAGE}\n",
			want: "51: WorkFunction: the table Things has no StreamSpecification",
		},
		{
			part:        "Type: SQS, Destination",
			replacement: "Type: SNS, Destination",
			want:        "40: WorkFunction: OnFailure.Type SNS is not supported by the local gateway, only SQS",
		},
		{
			part:        "rate(2 minutes)",
			replacement: "rate(2 hours)",
			want: `54: WorkFunction: ScheduleExpression "rate(2 hours)" is not supported by the local gateway, ` +
				`only rate(N minutes)`,
		},
		{
			part:        "FunctionResponseTypes: [ReportBatchItemFailures]}}}}}",
			replacement: "BatchSize: 1}}}}}",
			want: "38: CheckFunction: FunctionResponseTypes  is not supported by the local gateway, only " +
				"ReportBatchItemFailures",
		},
		{
			part:        "InputPath: $.detail",
			replacement: "InputPath: $.id",
			want:        "74: Rule: InputPath $.id is not supported by the local gateway, only $.detail",
		},
		{"nested.yaml", "other.yaml", "77: Nested: read template: open other.yaml: file does not exist"},
		{"Outputs.Queue", "Outputs.Other", "83: Nested: Nested has no output Outputs.Other"},
		{"  Hidden:", "  Unread:", "77: Nested: both templates have a resource Unread"},
		{"EventBusName: !Ref Bus", "EventBusName: default", "74: Rule: EventBusName must be a bus of this template"},
		{
			part:        "LogGroupName: !Ref Lines",
			replacement: "LogGroupName: x",
			want:        `55: WorkFunction: LogGroupName "x" is not a log group of this template`,
		},
		{
			part:        "FilterPattern: ''",
			replacement: "FilterPattern: a",
			want:        "55: WorkFunction: FilterPattern a is not supported by the local gateway, only ",
		},
		{
			part:        "PAY_PER_REQUEST",
			replacement: "PROVISIONED",
			want:        "63: Things: BillingMode PROVISIONED is not supported by the local gateway, only PAY_PER_REQUEST",
		},
	} {
		check(strings.Replace(small, test.part, test.replacement, 1), test.want)
	}
}

// TestErrorInNestedTemplate checks that the error has the name of the nested file.
func TestErrorInNestedTemplate(t *testing.T) {
	t.Parallel()
	_, err := parse(strings.Replace(small, "Stream: !GetAtt Things.StreamArn, Limit", "Stream: x, Limit", 1), samtemplate.Settings{})
	if want := `nested.yaml:9: ReadFunction: "x" is not an AWS::DynamoDB::Table of this template`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	t.Parallel()
	if _, err := samtemplate.Load(filepath.Join(t.TempDir(), "template.yaml"), samtemplate.Settings{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
